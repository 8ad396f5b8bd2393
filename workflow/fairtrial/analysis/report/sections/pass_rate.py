"""3: pass rate with both intervals, thick for these tasks, thin for tasks like these."""

from __future__ import annotations

from typing import Any

from fairtrial.analysis.report import short, svg, words
from fairtrial.analysis.report.html import Safe, join, lead, scroll, tag
from fairtrial.analysis.report.model import Report
from fairtrial.analysis.report.sections.scorecard import rank

ORDER = 3
TITLE = "How often does it pass?"
QUESTION = "Pass rate with both intervals."
ROW, TOP, LEFT, RIGHT, WIDTH = 38, 34, 216, 984, 1080  # the card is 1086 wide where a page of 1200 has a scroll bar
NAME, DETAIL = 27, 34  # columns of the two lines left of the bars, which begin at LEFT


def html(report: Report) -> str:
    """The forest of intervals, and both bounds where attempts are unscored."""
    chart = scroll(_chart(report), f"Chart: {TITLE}")
    return join([lead(explanation(report)), chart, *_unscored(report)])


def explanation(report: Report) -> str:
    """What the bars are."""
    text = (
        "Thin line: interval for tasks like these (between-task spread included). "
        "Thick bar: interval on exactly these tasks."
    )
    few = any(card["like_low"] is None and card["scored"] for card in report.cards.values())
    few_text = " Below five tasks only the thick bar is shown: so few tasks say nothing about others." if few else ""
    return text + few_text + fills(report)


def fills(report: Report) -> str:
    """Which fill is which model, when there are several."""
    names = {"solid": "filled", "hollow": "hollow", "half": "half-filled", "dot": "dotted"}
    by_model = {arm.model: names[arm.fill] for arm in report.arms}
    if len(by_model) < 2:
        return ""
    said = ", ".join(f"{fill} {model}" for model, fill in list(by_model.items())[:4])
    return f" {said[:1].upper()}{said[1:]}."


def _chart(report: Report) -> Safe:
    arms = report.ranked
    height = TOP + ROW * len(arms) + 30
    at = svg.Linear(0, 1, LEFT, RIGHT)
    parts: list[object] = [svg.text(RIGHT + 12, 14, "rank range", "q s")]
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(svg.line(at(share), TOP - 10, at(share), height - 26, "g"))
        parts.append(svg.text(at(share), height - 8, f"{share:.0%}", "q", "middle"))
    shown = short.names((arm.label for arm in arms), NAME, "\u2026")
    for number, arm in enumerate(arms):
        parts += _row(report.card(arm), arm, shown[arm.label], TOP + ROW * number + 14, at)
    said = "; ".join(f"{arm.name} {words.percent(report.card(arm)['pass_rate'])}" for arm in arms)
    return svg.figure(WIDTH, height, f"Pass rate with 95% intervals. {said}", *parts)


def _row(card: dict[str, Any], arm: Any, name: str, y: float, at: svg.Linear) -> list[object]:
    version = short.cut(" \u00b7 ".join([arm.model, *card["harness_versions"][:2]]), DETAIL, "\u2026")
    parts: list[object] = [svg.text(0, y - 3, name, "b"), svg.text(0, y + 11, version, "q s")]
    if card["pass_rate"] is None:
        return [*parts, svg.text(at(0) + 8, y + 4, "nothing scored", "q")]
    if card["these_low"] is not None:
        parts.append(svg.line(at(card["these_low"]), y, at(card["these_high"]), y, f"l w c{arm.colour}"))
    if card["like_low"] is not None:
        parts.append(svg.line(at(card["like_low"]), y, at(card["like_high"]), y, f"l c{arm.colour}"))
    ranked = card["rank"] and card["rank"]["of"] > 1
    place = f"{rank(card)} of {card['rank']['of']}" if ranked else "not compared"
    return [*parts, svg.mark(arm, at(card["pass_rate"]), y, 5), svg.text(RIGHT + 12, y + 4, place)]


def _unscored(report: Report) -> list[Safe]:
    lines = []
    for arm in report.ranked:
        card = report.card(arm)
        if card["unscored"]:
            low, high = words.percent(card["if_unscored_failed"]), words.percent(card["if_unscored_passed"])
            lines.append(tag("li", f"{arm.name}: {words.plural(card['unscored'], 'unscored attempt')}; had all failed "
                                   f"{low}, had all passed {high}"))  # fmt: skip
    return [tag("h3", "Unscored attempts, both bounds"), tag("ul", *lines, class_="rows")] if lines else []


def markdown(report: Report) -> str:
    """Only what the scorecard's table does not say."""
    lines = []
    for arm in report.ranked:
        card = report.card(arm)
        if card["unscored"]:
            low, high = words.percent(card["if_unscored_failed"]), words.percent(card["if_unscored_passed"])
            lines.append(f"- {arm.name}: {card['unscored']} unscored; had all failed {low}, had all passed {high}")
    return "\n".join(lines)
