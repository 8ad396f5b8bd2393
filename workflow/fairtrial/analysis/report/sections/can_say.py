"""1: which differences this run can tell apart, and how large one had to be."""

from __future__ import annotations

from typing import Any

from fairtrial.analysis.report import md, words
from fairtrial.analysis.report.html import Safe, details, join, lead, tag
from fairtrial.analysis.report.model import Report

ORDER = 1
TITLE = "What this run can say"
QUESTION = "Which arms are told apart, and which are not?"
SHOWN = 12
MOST = 30  # pairs in report.md
NO_INTERVAL = "no interval below five tasks"
NOTHING = "no scored task in common"


def html(report: Report) -> str:
    """Separated on the left, not separated on the right."""
    pairs = report.pairs["pairs"]
    if not pairs:
        return lead(nothing(report))
    apart = [pair for pair in pairs if pair["separated"]]
    rest = [pair for pair in pairs if not pair["separated"]]
    left = tag("div", tag("h3", "Separated"), _list([_separated(p) for p in apart], "No pair is separated."))
    right = tag("div", tag("h3", "Not separated \u2014 no winner"),
                _list([_open(p) for p in rest], "Every pair is separated."))  # fmt: skip
    return join([lead(intro(report)), tag("div", left, right, class_="two")])


def nothing(report: Report) -> str:
    """Why there is no comparison."""
    arms = len([arm for arm in report.arms if report.card(arm)["compared"]])
    if arms < 2:
        return "Fewer than two arms can be compared: reference and noop only calibrate the tasks."
    return "No two arms differ in harness, model or toolset alone, so nothing is compared."


def intro(report: Report) -> str:
    """How the intervals were made and what would go unseen."""
    families, pairs = words.listing(report.pairs["families"]), report.pairs["pairs"]
    text = "Paired by task, for tasks like these. "
    if all(pair["low"] is None for pair in pairs):
        text += "No pair has the five common tasks that this takes."
    else:
        text += (
            f"Intervals hold jointly at 95% over the {families}." if len(pairs) > 1 else "The interval holds at 95%."
        )
    found = report.pairs["detectable"]
    if found is None:
        return text
    size = f"{words.plural(found['tasks'], 'task')} and {words.plural(found['attempts'], 'scored attempt')} of each"
    if found["planned"] >= 1:
        return f"{text} With {size}, even the largest difference there can be will usually go undetected."
    least = f"differences below about {found['planned'] * 100:.0f} points"
    return f"{text} With {size}, {least} will usually go undetected."


def _list(items: list[Safe], otherwise: str) -> Safe:
    if not items:
        return tag("p", otherwise, class_="quiet")
    shown = tag("ul", *(tag("li", item) for item in items[:SHOWN]), class_="rows")
    if len(items) <= SHOWN:
        return shown
    more = tag("ul", *(tag("li", item) for item in items[SHOWN:]), class_="rows")
    return join([shown, details(f"{len(items) - SHOWN} more", more)])


def _separated(pair: dict[str, Any]) -> Safe:
    first, second = (pair["a"], pair["b"]) if pair["difference"] >= 0 else (pair["b"], pair["a"])
    low, high = (pair["low"], pair["high"]) if pair["difference"] >= 0 else (-pair["high"], -pair["low"])
    size = f"{pair['where']}: {words.points(abs(pair['difference']))} points "
    interval = tag("span", f"[{words.points(low, False)}, {words.points(high, False)}]", class_="quiet")
    said = [
        tag("b", first),
        " passes more often than ",
        tag("b", second),
        size,
        interval,
        _time(pair),
        _confounded(pair),
    ]
    return join(said)


def _open(pair: dict[str, Any]) -> Safe:
    if pair["difference"] is None:
        return join([f"{pair['a']} and {pair['b']}{pair['where']}: {NOTHING}"])
    known = pair["low"] is not None
    interval = f"[{words.points(pair['low'])}, {words.points(pair['high'])}]" if known else NO_INTERVAL
    body = f"{pair['a']} and {pair['b']}{pair['where']}: {words.points(pair['difference'])} points "
    return join([body, tag("span", interval, class_="quiet"), _time(pair), _confounded(pair)])


def _time(pair: dict[str, Any]) -> Safe:
    """The verdict on time to green stands beside that on the pass rate."""
    return tag("span", f" \u00b7 time: {pair['time_words']}", class_="quiet") if pair["time_words"] else Safe("")


def _confounded(pair: dict[str, Any]) -> str:
    return f" \u2014 confounded: {pair['confounded']}" if pair["confounded"] else ""


def markdown(report: Report) -> str:
    """One list, for a pull request at most thirty pairs, the separated ones first."""
    pairs = report.pairs["pairs"]
    if not pairs:
        return nothing(report)
    lines = [intro(report), ""]
    first = sorted(pairs, key=lambda pair: not pair["separated"])  # what can be said before what cannot
    for pair in first[:MOST]:
        verdict = "separated" if pair["separated"] else "not separated, no winner"
        known = pair["low"] is not None
        interval = f"[{words.points(pair['low'])}, {words.points(pair['high'])}]" if known else f"({NO_INTERVAL})"
        size = f"{words.points(pair['difference'])} points {interval}" if pair["difference"] is not None else NOTHING
        name = md.esc(f"{pair['a']} \u2212 {pair['b']}{pair['where']}")
        told = md.esc(f"{verdict}{_confounded(pair)}")
        lines.append(f"- {name}: {size}: {told}")
    return "\n".join([*lines, *more(len(pairs))])


def more(pairs: int) -> list[str]:
    """What is said of the pairs that a pull request does not show."""
    return [f"- and {words.plural(pairs - MOST, 'more pair')} in index.html and report.json"] if pairs > MOST else []
