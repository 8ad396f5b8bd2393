"""5: every attempt as one glyph that links to its evidence; in a large run one shaded fraction per cell."""

from __future__ import annotations

from fairtrial.analysis.report import md, short, svg, words
from fairtrial.analysis.report.html import Safe, join, lead, scroll, tag
from fairtrial.analysis.report.model import GLYPHS, MOST_LINKED, Arm, Report

ORDER = 5
TITLE = "Which attempts failed?"
QUESTION = "One glyph an attempt."
MOST_TASKS = 300
PAGED = ("done", "excluded", "problem")  # what has a page of its own
SIZE, STEP, GAP, ROW, TOP = 15, 18, 44, 24, 40
_OUTSIDE = {
    "fault": "infrastructure fault",
    "not_run": "not run",
    "excluded": "excluded",
    "problem": "record unreadable",
}

_EMPTY = '<rect x=".5" y=".5" width="14" height="14" rx="3" class="o-none"/>'
_DRAWN = {
    "p": '<rect width="15" height="15" rx="3" class="o-pass"/>',
    "r": '<rect width="15" height="15" rx="3" class="o-red"/><path d="M5 5L10 10M10 5L5 10" class="g-red"/>',
    "t": '<rect width="15" height="15" rx="3" class="o-late"/><circle cx="7.5" cy="7.5" r="4" class="g-late"/>'
    '<path d="M7.5 5.2V7.5L9.2 8.4" class="g-late"/>',
    "a": '<rect width="15" height="15" rx="3" class="o-gave"/><path d="M4.8 7.5H10.2" class="g-gave"/>',
    "u": _EMPTY + '<path d="M7.5 4V8.5M7.5 10.4V11.4" class="g-none"/>',
    "x": _EMPTY + '<path d="M4.5 10.5L10.5 4.5" class="g-none"/>',
}
_GLYPH = {"green": "p", "red": "r", "timeout": "t", "agent_error": "a", None: "u"}


def word(report: Report, row: int) -> str:
    """What became of one planned attempt."""
    status = report.columns["status"][row]
    return GLYPHS[report.columns["outcome"][row]] if status == "done" else _OUTSIDE[status]


def glyph(report: Report, row: int) -> str:
    """The letter of its symbol."""
    return _GLYPH[report.columns["outcome"][row]] if report.columns["status"][row] == "done" else "x"


def html(report: Report) -> str:
    """Legend and grid."""
    shown = _tasks(report)
    many = report.planned > MOST_LINKED
    parts: list[object] = []
    if many:
        parts.append(lead(f"More than {MOST_LINKED:,} attempts: each cell is shaded by its share of passes."))
    if len(shown) < len(report.tasks):
        parts.append(lead(f"The {len(shown)} tasks with the lowest pass rates, of {len(report.tasks):,}."))
    parts.append(_legend(report) if not many else "")
    parts.append(scroll(_grid(report, shown, many), f"Chart: {TITLE}"))
    return join(parts)


def _rate(report: Report, task: str) -> tuple[int, int]:
    """(passes, scored attempts) of agents; of every arm where there are only calibrating ones."""
    passes = tries = 0
    left = report.calibrating if len(report.calibrating) < len(report.arms) else set()
    for arm in (one for one in report.arms if one.index not in left):
        for row in report.cells.get((arm.index, task), ()):
            tries += report.scored[row]
            passes += report.scored[row] and report.columns["outcome"][row] == "green"
    return passes, tries


def _tasks(report: Report) -> list[str]:
    """Easiest first, as far as they were tried; the hardest when there are too many to show."""
    rates = {task: _rate(report, task) for task in report.tasks}
    order = sorted(report.tasks, key=lambda t: (-(rates[t][0] / rates[t][1]) if rates[t][1] else 1, t))
    return order[-MOST_TASKS:]


def _legend(report: Report) -> Safe:
    drawn = {glyph(report, row) for row in range(report.planned)}
    names = {"p": "passed", "r": "failed", "t": "timed out", "a": "gave up (agent error or budget)", "u": "unscored",
             "x": "infrastructure fault, not run or excluded"}  # fmt: skip
    items = [tag("li", _symbol(key), name) for key, name in names.items() if key in drawn]
    return tag("ul", *items, class_="legend")


def _symbol(key: str) -> Safe:
    return tag("svg", Safe(_DRAWN[key]), width="15", height="15", viewBox="0 0 15 15", aria_hidden="true")


def _grid(report: Report, tasks: list[str], many: bool) -> Safe:
    columns = _columns(report, many)
    left = min(max((len(task) for task in tasks), default=0), 34) * 6.6 + 24
    width = left + columns[-1][1] + columns[-1][2] + 70 if columns else left + 70
    height = TOP + ROW * len(tasks) + 8
    used = {glyph(report, row) for row in range(report.planned)} if not many else set()
    parts: list[object] = [Safe("<defs>" + "".join(f'<g id="o{k}">{_DRAWN[k]}</g>' for k in sorted(used)) + "</defs>")]
    labels, models = (short.names((getattr(arm, part) for arm in report.arms), width, "\u2026")
                      for part, width in (("label", 18), ("model", 20)))  # fmt: skip
    for arm, at, _ in columns:
        parts += [svg.text(left + at, 12, labels[arm.label], "b"), svg.text(left + at, 27, models[arm.model], "q s")]
    parts.append(svg.text(width - 8, 27, "all", "q s", "end"))
    rows = short.names(tasks, 34, "\u2026")
    for number, task in enumerate(tasks):
        y = TOP + ROW * number
        parts.append(svg.text(0, y + 12, rows[task]))
        passes, tries = _rate(report, task)
        parts.append(svg.text(width - 8, y + 12, words.percent(passes / tries if tries else None), "q", "end"))
        for arm, at, _ in columns:
            parts += _cell(report, arm, task, (left + at, y), many)
    label = "Outcome of every attempt by task and arm"
    return tag("svg", *parts, class_="chart", role="group", aria_label=label, width=svg.num(width), height=height,
               viewBox=f"0 0 {svg.num(width)} {height}")  # fmt: skip


def _columns(report: Report, many: bool) -> list[tuple[Arm, float, float]]:
    """(arm, offset, width) from left to right, by model and then harness."""
    found, at = [], 0.0
    for arm in report.arms:
        most = max((len(rows) for (index, _), rows in report.cells.items() if index == arm.index), default=1)
        inner = 46 if many else STEP * most
        width = max(inner, 7.2 * min(len(arm.label), 18), 6.2 * min(len(arm.model), 20))
        found.append((arm, at, width))
        at += width + (26 if len(report.arms) > 8 else GAP)
    return found


def _cell(report: Report, arm: Arm, task: str, at: tuple[float, float], many: bool) -> list[Safe]:
    rows = report.cells.get((arm.index, task), [])
    x, y = at
    return [_fraction(report, rows, x, y)] if many else [
        _one(report, f"{task}, {arm.name}", row, x + STEP * place, y) for place, row in enumerate(rows)
    ]  # fmt: skip


def _fraction(report: Report, rows: list[int], x: float, y: float) -> Safe:
    tries = [row for row in rows if report.scored[row]]
    if not tries:
        return svg.text(x, y + 12, words.DASH, "q")
    share = sum(report.columns["outcome"][row] == "green" for row in tries) / len(tries)
    bar = f'<rect x="{svg.num(x)}" y="{y}" width="15" height="15" rx="3" class="shade" fill-opacity="{share:.2f}"/>'
    edge = svg.rect(x + 0.5, y + 0.5, 14, 14, "ax")
    return Safe(bar + edge + svg.text(x + 20, y + 12, words.percent(share).rstrip("%"), "q s"))


def _one(report: Report, whose: str, row: int, x: float, y: float) -> Safe:
    use = Safe(f'<use href="#o{glyph(report, row)}" x="{svg.num(x)}" y="{svg.num(y)}"/>')
    label = f"{whose}, r{report.columns['repetition'][row]}: {word(report, row)}"
    if report.linked and report.columns["status"][row] in PAGED:
        return tag("a", use, href=f"attempts/{report.columns['attempt_id'][row]}.html", aria_label=label)
    return tag("g", use, role="img", aria_label=label)


def strip(report: Report, arm: Arm, task: str) -> str:
    """One letter an attempt for terminals: P passed, F failed, T timed out, A agent error, ? unscored, . nothing."""
    letters = {"p": "P", "r": "F", "t": "T", "a": "A", "u": "?", "x": "."}
    return "".join(letters[glyph(report, row)] for row in report.cells.get((arm.index, task), ()))


def markdown(report: Report) -> str:
    """A letter an attempt, in a table of tasks by arms; left out when it would be too wide or too long."""
    if report.planned > 600 or len(report.arms) > 8:
        return ""
    heads = ["Task", *(arm.name for arm in report.arms)]
    rows = [[task, *(strip(report, arm, task) for arm in report.arms)] for task in report.tasks]
    key = "P passed, F failed, T timed out, A agent error or budget, ? unscored, . fault, not run or excluded"
    return md.table(heads, rows) + f"\n\n{key}"
