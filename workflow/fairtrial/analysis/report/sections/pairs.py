"""8: every comparison with its interval, tests and both verdicts."""

from __future__ import annotations

from typing import Any

from fairtrial.analysis.report import md, words
from fairtrial.analysis.report.html import Cell, Safe, details, join, lead, pill, table, tag
from fairtrial.analysis.report.model import Report
from fairtrial.analysis.report.sections import can_say

ORDER = 8
TITLE = "Paired comparisons"
QUESTION = "Which differences survive correction?"
HEADS = (
    "Pair", "Difference, points", "95% interval", "Sign-flip q", "These tasks only, q", "Pass rate", "Mean to green",
    "Time to green, q", "Time", "Cost",
)  # fmt: skip
NUMERIC = (1, 2, 3, 4, 6, 7, 9)
MOST = 200


def html(report: Report) -> str:
    """One row a pair; the corrected verdicts everywhere."""
    pairs = report.pairs["pairs"]
    if not pairs:
        return lead(can_say.nothing(report))
    text = (
        "Paired by task. Intervals hold jointly at 95%; q: Benjamini\u2013Hochberg over each family of pairs. The test "
        "for these tasks only is exact and stratified by task; the log-rank for time is stratified by task."
    )
    body = [table(HEADS, [_row(pair) for pair in pairs[:MOST]], TITLE, numeric=NUMERIC)]
    if len(pairs) > MOST:
        rest = table(HEADS, [_row(pair) for pair in pairs[MOST:]], f"{TITLE}, continued", numeric=NUMERIC)
        body.append(details(f"{len(pairs) - MOST} more pairs", rest))
    return join([lead(text), *body, *_notes(report)])


def _row(pair: dict[str, Any]) -> list[object]:
    name = join([pair["a"], " \u2212 ", pair["b"], tag("span", pair["where"], class_="quiet")])
    return [
        Cell(name, f"{pair['a']} {pair['b']}"), Cell(words.points(pair["difference"]), pair["difference"]),
        Cell(_interval(pair), pair["low"]), Cell(words.chance(pair["sign_flip_q"]), pair["sign_flip_q"]),
        Cell(words.chance(pair["exact_q"]), pair["exact_q"]), _verdict(pair),
        Cell(words.duration(pair["time_difference"], sign=True), pair["time_difference"]),
        Cell(words.chance(pair["time_q"]), pair["time_q"]), pair["time_words"] or words.DASH,
        Cell(_cost(pair), pair["cost_ratio"]),
    ]  # fmt: skip


def _interval(pair: dict[str, Any]) -> str:
    known = pair["low"] is not None
    return f"{words.points(pair['low'])} to {words.points(pair['high'])}" if known else words.DASH


def _verdict(pair: dict[str, Any]) -> Safe:
    mark = pill("separated", "good") if pair["separated"] else pill("not separated")
    return join([mark, " ", pill("confounded", "warn")]) if pair["confounded"] else mark


def _cost(pair: dict[str, Any]) -> str:
    return words.DASH if pair["cost_ratio"] is None else f"\u00d7{pair['cost_ratio']:.2f}"


def _notes(report: Report) -> list[Safe]:
    """Notes, each once, with the pairs it holds for."""
    found: dict[str, list[str]] = {}
    for pair in report.pairs["pairs"]:
        for note in pair["notes"]:
            found.setdefault(note, []).append(f"{pair['a']} \u2212 {pair['b']}{pair['where']}")
    said = [f"{', '.join(names[:6])}{' and others' if len(names) > 6 else ''}: {note}" for note, names in found.items()]
    said += report.pairs["notes"]
    if not said:
        return []
    return [details(f"Notes ({len(said)})", tag("ul", *(tag("li", text) for text in said), class_="rows"))]


def markdown(report: Report) -> str:
    """A short table, for pull requests at most thirty pairs."""
    pairs = sorted(report.pairs["pairs"], key=lambda pair: not pair["separated"])[: can_say.MOST]
    if not pairs:
        return ""
    heads = ["Pair", "Points", "95% interval", "Sign-flip q", "These tasks q", "Pass rate", "Time q", "Time"]
    rows = []
    for p in pairs:
        verdict = ("separated" if p["separated"] else "not separated") + (", confounded" if p["confounded"] else "")
        rows.append([f"{p['a']} \u2212 {p['b']}{p['where']}", words.points(p["difference"]),
                     _interval(p), words.chance(p["sign_flip_q"]),
                     words.chance(p["exact_q"]), verdict, words.chance(p["time_q"]),
                     p["time_words"] or words.DASH])  # fmt: skip
    return "\n".join(
        [md.table(heads, rows), *(["", *more] if (more := can_say.more(len(report.pairs["pairs"]))) else [])]
    )
