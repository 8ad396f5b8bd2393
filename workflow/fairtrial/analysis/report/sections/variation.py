"""7: how much a rerun of the same task varies in tokens, cost and time."""

from __future__ import annotations

from fairtrial.analysis.report import md, short, svg, words
from fairtrial.analysis.report.html import Safe, details, join, lead, scroll, tag
from fairtrial.analysis.report.model import Arm, Report

ORDER = 7
TITLE = "How much does a rerun vary?"
QUESTION = "Within-task coefficient of variation."
WIDTH, LEFT, RIGHT, TOP = 506, 148, 424, 10
BARS = (("tokens", "cv_tokens", "fill t2"), ("cost", "cv_cost", "fill t1"), ("wall", "cv_seconds", "fill"))


def wide(_report: Report) -> str:
    """Half the page."""
    return "half"


def html(report: Report) -> str:
    """Three bars an arm; arms that cannot say are named."""
    arms = [arm for arm in report.ranked if any(report.card(arm)[key] is not None for _, key, _ in BARS)]
    parts: list[object] = [
        lead("Within-task coefficient of variation, averaged over tasks. 0: every rerun uses the same.")
    ]
    if arms:
        parts.append(scroll(_chart(report, arms), f"Chart: {TITLE}"))
    absent = [arm.name for arm in report.ranked if arm not in arms]
    if absent:
        parts.append(tag("p", f"No task with two known values: {words.listing(absent)}.", class_="quiet"))
    parts += _similar(report)
    return join(parts)


def _chart(report: Report, arms: list[Arm]) -> Safe:
    most = max(report.card(arm)[key] or 0 for arm in arms for _, key, _ in BARS)
    ticks = svg.nice_ticks(most, 4)
    x = svg.Linear(0, ticks[-1], LEFT, RIGHT)
    height = TOP + 43 * len(arms) + 26
    parts: list[object] = []
    for tick in ticks:
        parts += [
            svg.line(x(tick), 4, x(tick), height - 24, "g"),
            svg.text(x(tick), height - 8, f"{tick:.2g}", "q", "middle"),
        ]
    shown = short.names((arm.name for arm in arms), 24, "\u2026")
    for number, arm in enumerate(arms):
        top = TOP + 43 * number
        parts.append(svg.text(0, top + 22, shown[arm.name]))
        for place, (name, key, kind) in enumerate(BARS):
            parts += _bar(report, arm, key, name, (x, top + 12 * place, kind))
        if number:
            parts.append(svg.line(0, top - 5, RIGHT + 60, top - 5, "g"))
    said = "; ".join(f"{arm.name} wall {words.plain(report.card(arm)['cv_seconds'])}" for arm in arms)
    return svg.figure(WIDTH, height, f"Coefficient of variation within tasks. {said}", *parts)


def _bar(report: Report, arm: Arm, key: str, name: str, at: tuple[svg.Linear, float, str]) -> list[Safe]:
    x, y, kind = at
    value = report.card(arm)[key]
    if value is None:
        return [svg.text(LEFT + 4, y + 9, f"{name} not measured", "q s")]
    return [svg.rect(LEFT, y, x(value) - LEFT, 8, f"{kind} c{arm.colour}"),
            svg.text(x(value) + 6, y + 9, f"{name} {value:.2f}", "q s")]  # fmt: skip


def _similar(report: Report) -> list[Safe]:
    lines = []
    for arm in report.ranked:
        card = report.card(arm)
        if card["approach_similarity"] is None and not card["empty_changes"]:
            continue
        empty = card["empty_changes"]
        note = f"; {words.plural(empty, 'pair')} of passes changed nothing at all" if empty else ""
        said = words.plain(card["approach_similarity"])
        lines.append(tag("li", f"{arm.name}: {said} over {words.plural(card['similarity_tasks'], 'task')}{note}"))
    if not lines:
        return []
    text = (
        "Mean overlap of changed lines between passing attempts of a task. 1: always the same lines; 0: none in common."
    )
    return [details("How alike are the passing changes?", lead(text), tag("ul", *lines, class_="rows"))]


def markdown(report: Report) -> str:
    """A small table."""
    heads = ["Configuration", "CV tokens", "CV cost", "CV wall", "Similarity of passing changes"]
    rows = [[arm.name, *(words.plain(report.card(arm)[key]) for _, key, _ in BARS),
             words.plain(report.card(arm)["approach_similarity"])] for arm in report.ranked]  # fmt: skip
    return md.table(heads, rows)
