"""6: pass^k against cost per success."""

from __future__ import annotations

from fairtrial.analysis.report import curves, short, svg, words
from fairtrial.analysis.report.html import Safe, join, lead, scroll, tag
from fairtrial.analysis.report.model import Arm, Report

ORDER = 6
TITLE = "Is reliability worth the price?"
QUESTION = "pass^k against cost per success."
WIDTH, LEFT, RIGHT, TOP, BASE = 506, 44, 490, 12, 280


def wide(_report: Report) -> str:
    """Half the page."""
    return "half"


def html(report: Report) -> str:
    """The plane, and arms without a known price beside it in words."""
    known = _points(report)
    parts: list[object] = [
        lead("pass", tag("sup", report.k), f": chance that {_number(report.k)} all pass. Up and left is better; ",
             "lines are 95% intervals over resampled tasks.")
    ]  # fmt: skip
    if known:
        parts.append(scroll(_chart(report, known), f"Chart: {TITLE}"))
    for why, names in _absent(report, [arm for arm, _, _ in known]).items():
        parts.append(tag("p", f"Not drawn, for {why}: {words.listing(names)}.", class_="quiet"))
    partial = [arm.name for arm, _, _ in known if (report.card(arm)["cost_known_share"] or 0) < 1]
    if partial:
        parts.append(tag("p", f"Cost known for some attempts only: {words.listing(partial)}.", class_="quiet"))
    return join(parts)


def _number(k: int) -> str:
    return "one attempt" if k == 1 else f"{k} attempts in a row"


def _absent(report: Report, drawn: list[Arm]) -> dict[str, list[str]]:
    """What an arm lacks that is not drawn -> such arms."""
    found: dict[str, list[str]] = {}
    for arm in (one for one in report.ranked if one not in drawn):
        card = report.card(arm)
        cost, every = card["cost_per_success_usd"], card["pass_hat_k"][str(report.k)]["value"]
        lacks = [f"no task with {words.plural(report.k, 'scored attempt')}"] if every is None else []
        lacks += ["no success of known cost"] if cost is None else ["a cost of nothing"] if cost <= 0 else []
        found.setdefault(" and ".join(lacks), []).append(arm.name)
    return found


def _points(report: Report) -> list[tuple[Arm, float, float]]:
    """(arm, cost per success, pass^k) where both are known and the cost is above 0."""
    found = []
    for arm in report.ranked:
        card = report.card(arm)
        cost, share = card["cost_per_success_usd"], card["pass_hat_k"][str(report.k)]["value"]
        if cost is not None and cost > 0 and share is not None:
            found.append((arm, float(cost), float(share)))
    return found


def _chart(report: Report, known: list[tuple[Arm, float, float]]) -> Safe:
    costs = [cost for _, cost, _ in known]
    spans = [span for arm, _, _ in known if (span := curves.cost_interval(report, arm))]
    costs += [max(end, min(costs) / 4) for span in spans for end in span]
    x = svg.Log(min(costs) * 0.85, max(costs) * 1.2, LEFT, RIGHT)
    y = svg.Linear(0, 1, BASE, TOP)
    parts: list[object] = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts += [
            svg.line(LEFT, y(share), RIGHT, y(share), "g"),
            svg.text(LEFT - 8, y(share) + 4, f"{share:.0%}", "q", "end"),
        ]
    for cost in svg.decades(x.low, x.high):
        parts += [
            svg.line(x(cost), TOP, x(cost), BASE, "g"),
            svg.text(x(cost), BASE + 17, f"${cost:.12g}", "q", "middle"),
        ]
    parts.append(svg.text(RIGHT, BASE + 36, "cost per success (log scale) \u2014 left is cheaper", "q s", "end"))
    for arm, cost, share in known:
        parts += _whisker(report, arm, (x(cost), y(share)), x, y)
        parts.append(svg.mark(arm, x(cost), y(share), 5.5))
    parts += _labels(known, x, y)
    said = "; ".join(f"{arm.name} {words.percent(share)} at {words.dollars(cost)}" for arm, cost, share in known)
    return svg.figure(WIDTH, BASE + 46, f"Reliability against price. {said}", *parts)


def _whisker(report: Report, arm: Arm, at: tuple[float, float], x: svg.Log, y: svg.Linear) -> list[Safe]:
    """Both intervals resample tasks."""
    parts = []
    up = curves.power_interval(report, arm, report.k)
    if up:
        parts.append(svg.line(at[0], y(up[0]), at[0], y(up[1]), f"l thin c{arm.colour}"))
    across = curves.cost_interval(report, arm)
    if across:
        parts.append(svg.line(x(across[0]), at[1], x(across[1]), at[1], f"l thin c{arm.colour}"))
    return parts


def _labels(known: list[tuple[Arm, float, float]], x: svg.Log, y: svg.Linear) -> list[Safe]:
    """Beside each mark, on the side that is free; none above twelve arms, the table has their names."""
    if len(known) > 12:
        return []
    taken = [(x(cost) - 7, x(cost) + 7, y(share)) for _, cost, share in known]
    found = []
    shown = short.names((arm.name for arm, _, _ in known), 22, "\u2026")
    for arm, cost, share in known:
        size = 7.0 * len(shown[arm.name])
        options = [(side, shift) for shift in (-8, 12, -21, 25, -34) for side in (1, -1)]
        side, shift = min(options, key=lambda o: _crowding((x(cost), y(share)), size, o, taken))
        at, height = x(cost) + 9 * side, y(share) + shift
        taken.append((min(at, at + size * side), max(at, at + size * side), height - 4))
        found.append(svg.text(at, height, shown[arm.name], f"k b c{arm.colour}", "" if side > 0 else "end"))
    return found


def _crowding(
    at: tuple[float, float], size: float, option: tuple[int, int], taken: list[tuple[float, float, float]]
) -> float:
    """How much a label there would cover, plus a little for being far away."""
    side, shift = option
    left, right = sorted((at[0] + 9 * side, at[0] + (9 + size) * side))
    height = at[1] + shift - 4
    outside = max(0.0, LEFT - left) + max(0.0, right - WIDTH) + max(0.0, height - BASE) + max(0.0, TOP - height)
    near = [(start, end) for start, end, y in taken if abs(y - height) < 12]
    covered = sum(max(0.0, min(right, end) - max(left, start)) for start, end in near)
    return outside * 3 + covered + abs(shift) * 0.5


def markdown(report: Report) -> str:
    """The scorecard's table has both numbers."""
    return ""
