"""summary.txt: eighty columns for a terminal, with a letter an attempt; no control character gets through."""

from __future__ import annotations

from typing import Any

from fairtrial.analysis.report import heading, words
from fairtrial.analysis.report.html import visible
from fairtrial.analysis.report.model import Arm, Report
from fairtrial.analysis.report.sections.failures import strip
from fairtrial.analysis.report.sections.scorecard import hat, median, rank
from fairtrial.analysis.report.short import columns, cut, names

WIDTH = 80
MOST_TASKS = 60


def text(report: Report) -> str:
    """The whole summary; no line is wider than 80 columns."""
    lines = [heading.title(report), *wrap(heading.shape(report)), ""]
    for note in heading.banners(report):
        lines += wrap("! " + note, "  ")
    lines += ["" if heading.banners(report) else None, *_table(report), "", *_strips(report), "", *_footer(report)]  # type: ignore[list-item]
    return "\n".join(clean(line) for line in lines if line is not None) + "\n"


def clean(line: str) -> str:
    """One printable line, cut at 80 columns."""
    return cut(visible(line).replace("\n", " ").replace("\t", " "), WIDTH).rstrip()


def pad(line: str, width: int) -> str:
    """Cut or filled to exactly `width` columns."""
    shown = cut(visible(line), width)
    return shown + " " * (width - columns(shown))


def wrap(line: str, indent: str = "") -> list[str]:
    """Words over lines of at most 80 columns."""
    import textwrap

    return textwrap.wrap(visible(line), WIDTH, subsequent_indent=indent, break_on_hyphens=False) or [""]


def _table(report: Report) -> list[str]:
    cards = [report.card(arm) for arm in report.arms]
    left = max([5, *(len(str(card["passes"])) + 1 for card in cards)])
    right = max([3, *(len(str(card["scored"])) for card in cards)])
    room = 26 - (left + 1 + right - 9)  # of the names: what the counts leave
    widths = (
        ("rank", 6),
        ("pass", 6),
        ("passes", left + 1 + right),
        ("95%", 8),
        (f"pass^{report.k}", 8),
        ("median", 9),
        ("$/pass", 8),
    )
    lines = [pad("configuration", room) + "".join(f"{name:>{width}}" for name, width in widths)]
    shown = _names(report, room)
    for arm in report.ranked:
        card = report.card(arm)
        low, high = ("like_low", "like_high") if card["like_low"] is not None else ("these_low", "these_high")
        lines.append(
            pad(shown[arm.index], room)
            + f"{rank(card):>6}{words.percent(card['pass_rate']):>6}{card['passes']:>{left}}/{card['scored']:<{right}}"
            f"{words.bounds((card[low], card[high])):>8}{_every(report, card):>8}"
            f"{median(card).replace(' min', 'm').replace(' s', 's'):>9}{words.dollars(card['cost_per_success_usd']):>8}"
        )
    few = any(report.card(arm)["like_low"] is None and report.card(arm)["scored"] for arm in report.arms)
    if any("*" in _every(report, report.card(arm)) for arm in report.arms):
        lines.append(f"*: over fewer tasks, those with {words.plural(report.k, 'scored attempt')} or more")
    lines.append("95%: for tasks like these" + (", for exactly these where there are fewer than five" if few else ""))
    return lines


def _every(report: Report, card: dict[str, Any]) -> str:
    """pass^k with a mark where it stands for some of the tasks only."""
    found = hat(report, card)
    return words.percent(found["value"]) + ("*" if 0 < found["tasks"] < found["of"] else "")


def _names(report: Report, room: int) -> dict[int, str]:
    """Arm index -> at most `room` columns, different for different arms."""
    marks = {arm.index: " (sim)" * arm.simulated + " (mixed)" * arm.mixed for arm in report.arms}
    width = room - max(map(len, marks.values()), default=0)
    plain = {arm.index: visible(arm.name.replace(" (simulated)", "")) for arm in report.arms}
    short = names(plain.values(), width)
    return {index: short[plain[index]] + mark for index, mark in marks.items()}


def _strips(report: Report) -> list[str]:
    """One line a task with a strip of letters an arm; blocks of arms when they do not fit side by side."""
    lines: list[str] = []
    tasks = report.tasks[:MOST_TASKS]
    widths = {arm.index: max((len(strip(report, arm, task)) for task in tasks), default=1) for arm in report.arms}
    if any(width > 50 for width in widths.values()):
        return ["More than fifty repetitions: see the outcome grid of index.html."]
    block: list[Arm] = []
    used = 22
    for arm in report.arms:
        need = max(widths[arm.index], 8) + 2
        if block and used + need > WIDTH:
            lines += [*_block(report, block, tasks, widths), ""]
            block, used = [], 22
        block.append(arm)
        used += need
    lines += _block(report, block, tasks, widths)
    if len(report.tasks) > len(tasks):
        lines.append(f"and {len(report.tasks) - len(tasks)} more tasks")
    return [*lines, "P passed  F failed  T timed out  A agent error, budget  ? unscored  . no result"]


def _block(report: Report, arms: list[Arm], tasks: list[str], widths: dict[int, int]) -> list[str]:
    size = {arm.index: max(widths[arm.index], 8) + 2 for arm in arms}
    least = min(size.values(), default=10) - 1
    labels, models = names((visible(a.label) for a in report.arms), least), names(map(visible, report.models), least)
    rows = names(map(visible, tasks), 21)
    lines = [pad("", 22) + "".join(pad(labels[visible(arm.label)], size[arm.index]) for arm in arms)]
    if len(report.models) > 1:
        lines.append(pad("", 22) + "".join(pad(models[visible(arm.model)], size[arm.index]) for arm in arms))
    return lines + [
        pad(rows[visible(task)], 22) + "".join(pad(strip(report, arm, task), size[arm.index]) for arm in arms)
        for task in tasks
    ]


def _footer(report: Report) -> list[str]:
    counts = [f"{report.planned:,} planned", f"{sum(report.scored):,} scored"]
    counts += [words.plural(report.count("fault"), "fault")] if report.count("fault") else []
    for name, key in (("not run", "not_run"), ("excluded", "excluded"), ("unreadable", "problem")):
        if report.count(key):
            counts.append(f"{report.count(key):,} {name}")
    unscored = sum(report.done) - sum(report.scored)
    counts += [f"{unscored} unscored"] if unscored else []
    verdicts = [pair for pair in report.pairs["pairs"] if pair["separated"]]
    said = "; ".join(f"{p['a']} - {p['b']}{p['where']} {words.points(p['difference'])} points" for p in verdicts[:6])
    said += f"; and {len(verdicts) - 6} more" if len(verdicts) > 6 else ""
    lines = wrap(", ".join(counts) + ".") + wrap(f"isolation: {heading.isolation(report)}")
    if report.pairs["pairs"]:
        lines += wrap(f"separated: {said}" if said else "no pair is separated; no winner", "  ")
    return lines
