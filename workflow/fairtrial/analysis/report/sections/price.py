"""6: pass^k against cost per success."""

from __future__ import annotations

from typing import Any

from fairtrial.analysis.report import svg, words
from fairtrial.analysis.report.html import Safe, join, lead, scroll, tag
from fairtrial.analysis.report.model import Arm, Report

ORDER = 6
TITLE = "Is reliability worth the price?"
QUESTION = "pass^k against cost per success."
WIDE = "half"
WIDTH, LEFT, RIGHT, TOP, BASE = 506, 44, 490, 12, 280


def html(report: Report) -> str:
    """The plane, and arms without a known price beside it in words."""
    known = _points(report)
    parts: list[object] = [
        lead("pass", tag("sup", report.k), f": chance that {_number(report.k)} all pass. Up and left is better; vertical ",
             "lines are the pass rate's 95% interval, raised to the same power.")
    ]  # fmt: skip
    if known:
        parts.append(scroll(_chart(report, known), TITLE))
    absent = [arm.name for arm in report.ranked if arm not in [one for one, _, _ in known]]
    if absent:
        parts.append(tag("p", f"Not drawn, for no success of known cost: {words.listing(absent)}.", class_="quiet"))
    partial = [arm.name for arm, _, _ in known if (report.card(arm)["cost_known_share"] or 0) < 1]
    if partial:
        parts.append(tag("p", f"Cost known for some attempts only: {words.listing(partial)}.", class_="quiet"))
    return join(parts)


def _number(k: int) -> str:
    return "one attempt" if k == 1 else f"{k} attempts in a row"


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
    x = svg.Log(min(costs) * 0.7, max(costs) * 1.45, LEFT, RIGHT)
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
        parts += _whisker(report, arm, x(cost), y)
        parts.append(svg.mark(arm, x(cost), y(share), 5.5))
    parts += _labels(known, x, y)
    said = "; ".join(f"{arm.name} {words.percent(share)} at {words.dollars(cost)}" for arm, cost, share in known)
    return svg.figure(WIDTH, BASE + 46, f"Reliability against price. {said}", *parts)


def _whisker(report: Report, arm: Arm, x: float, y: svg.Linear) -> list[Safe]:
    card: dict[str, Any] = report.card(arm)
    low, high = ("like_low", "like_high") if card["like_low"] is not None else ("these_low", "these_high")
    if card[low] is None:
        return []
    ends = (card[low] ** report.k, card[high] ** report.k)
    return [svg.line(x, y(ends[0]), x, y(ends[1]), f"l c{arm.colour}")]


def _labels(known: list[tuple[Arm, float, float]], x: svg.Log, y: svg.Linear) -> list[Safe]:
    if len(known) > 12:
        return []
    placed = svg.spread([y(share) - 7 for _, _, share in known], 13, TOP + 4, BASE - 2)
    found = []
    for (arm, cost, _), at in zip(known, placed, strict=True):
        left = x(cost) > RIGHT - 130
        found.append(
            svg.text(x(cost) + (-9 if left else 9), at, arm.name[:24], f"k b c{arm.colour}", "end" if left else "")
        )
    return found


def markdown(report: Report) -> str:
    """The scorecard's table has both numbers."""
    return ""
