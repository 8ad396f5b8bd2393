"""9: each passing attempt's time to green, and the medians of its phases."""

from __future__ import annotations

from fairtrial.analysis.report import md, short, svg, words
from fairtrial.analysis.report.html import Cell, Safe, join, lead, scroll, table
from fairtrial.analysis.report.model import Arm, Report
from fairtrial.analysis.report.sections.pass_rate import fills
from fairtrial.analysis.report.sections.scorecard import label

ORDER = 9
TITLE = "Where does the time go?"
QUESTION = "Time to green of each passing attempt, and its phases."
PANEL, TOP, ROW = 302, 30, 25.5
HEAD = 37  # columns of a panel's name
MOST_DOTS = 3000
MOST_TASKS = 60
PHASES = (
    ("First command", "green_first_command_seconds"),
    ("First change", "green_first_mutation_seconds"),
    ("Own first green run", "green_first_acceptance_green_seconds"),
    ("First green", "first_green_upper_median"),
    ("Whole attempt", "green_agent_seconds"),
    ("Version control", "green_vc_occupied_seconds"),
    ("Waiting for the model", "green_api_seconds"),
)


def html(report: Report) -> str:
    """Dots by task, a panel a harness; a table of phases below."""
    greens = [row for row in range(report.planned) if report.scored[row] and report.columns["outcome"][row] == "green"]
    parts: list[object] = [lead("Each passing attempt's time to green, log scale." + fills(report))]
    if not greens:
        parts = [lead("No attempt passed, so there is no time to green.")]
    elif len(greens) <= MOST_DOTS:
        parts.append(scroll(_chart(report), f"Chart: {TITLE}"))
        hidden = len(_tasks(report)) - MOST_TASKS
        parts += [lead(f"Not drawn: {words.plural(hidden, 'more task')}.")] if hidden > 0 else []
    else:
        parts = [lead(f"More than {MOST_DOTS:,} passing attempts: medians only.")]
    parts += [lead("Median seconds over green attempts of each phase; a dash means not measured."), _phases(report)]
    return join(parts)


def _chart(report: Report) -> Safe:
    programs = list(dict.fromkeys(arm.label for arm in sorted(report.arms, key=lambda a: a.label)))
    tasks = _tasks(report)[:MOST_TASKS]
    left = min(max(len(task) for task in tasks), 30) * 6.4 + 18
    times = [t for arm in report.arms for t in report.values(arm, "seconds_to_green") if t > 0]
    low, high = min(times, default=1) * 0.85, max([report.wall_budget, *times])
    height = TOP + ROW * len(tasks) + 26
    parts: list[object] = []
    shown = short.names(tasks, 30, "\u2026")
    for number, task in enumerate(tasks):
        y = TOP + ROW * number
        parts += [
            svg.text(0, y + 16, shown[task], "s"),
            svg.line(left, y + ROW, left + PANEL * len(programs) - 24, y + ROW, "g"),
        ]
    heads = short.names(programs, HEAD, "\u2026")
    for place, program in enumerate(programs):
        x = svg.Log(low, high, left + PANEL * place, left + PANEL * (place + 1) - 40)
        arms = [arm for arm in report.arms if arm.label == program]
        parts += [svg.text(x.x0, 14, heads[program], f"k b c{arms[0].colour}"), *_panel(report, arms, tasks, x, height)]
    said = f"Time to green of {words.plural(len(times), 'passing attempt')} by task"
    return svg.figure(left + PANEL * len(programs), height, said, *parts)


def _tasks(report: Report) -> list[str]:
    """Tasks with a passing attempt that counts, by the order of the outcome grid."""
    from fairtrial.analysis.report.sections.failures import _tasks as order

    seconds = report.columns["seconds_to_green"]
    green = {report.task_of[row] for row in range(report.planned) if report.scored[row] and seconds[row] is not None}
    return [task for task in order(report) if task in green]


def _panel(report: Report, arms: list[Arm], tasks: list[str], x: svg.Log, height: float) -> list[Safe]:
    parts: list[Safe] = []
    for tick, said in svg.time_axis(x, 56):
        parts += [
            svg.line(x(tick), TOP - 6, x(tick), height - 26, "g"),
            svg.text(x(tick), height - 8, said, "q s", "middle"),
        ]
    models = report.models
    seconds = report.columns["seconds_to_green"]
    for number, task in enumerate(tasks):
        for arm in arms:
            shift = 7.5 * (models.index(arm.model) / max(len(models) - 1, 1)) if len(models) > 1 else 4
            y = TOP + ROW * number + 8 + shift
            for row in report.cells.get((arm.index, task), ()):
                if report.scored[row] and seconds[row] is not None:
                    parts.append(svg.mark(arm, x(seconds[row]), y, 3.4))
    return parts


def _phases(report: Report) -> Safe:
    heads = ["Configuration", *(name for name, _ in PHASES)]
    rows = [
        [
            Cell(label(arm), arm.name),
            *(Cell(words.duration(report.card(arm)[key]), report.card(arm)[key]) for _, key in PHASES),
        ]
        for arm in report.ranked
    ]
    return table(heads, rows, "Phases of green attempts", numeric=range(1, len(heads)))


def markdown(report: Report) -> str:
    """The table of phases."""
    heads = ["Configuration", *(name for name, _ in PHASES)]
    rows = [[arm.name, *(words.duration(report.card(arm)[key]) for _, key in PHASES)] for arm in report.ranked]
    return md.table(heads, rows)
