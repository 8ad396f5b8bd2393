"""Comparisons as plain text for a terminal, at most 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from fairtrial.analysis.arms import Json
from fairtrial.analysis.compare_words import SEPARATED, points
from fairtrial.contracts.plain import counted

WIDTH = 80
CROSS = ", but the curves cross: nobody is sooner throughout"


def lines(record: Json) -> Iterator[str]:
    """Every line of a record of compare, before_after or versions; control characters become question marks."""
    for entry in record.get("arms", ()):
        yield from _wrap(f"{entry['arm']}: {entry['newest']} against {', '.join(entry['against'])}")
        for one in entry["versions"]:
            yield _clean(f"  {one['version']:<24} {_percent(one['pass_rate']):>5}  {one['passes']}/{one['scored']}")
        yield from _pair(entry["pair"])
    for pair in record.get("pairs", ()):
        yield from _pair(pair)
    for side in ("before", "after"):
        if record.get(f"only_{side}"):
            yield from _wrap(f"only {side}: {', '.join(record[f'only_{side}'])}")
    for note in record["notes"]:
        yield from _wrap(note)


def _pair(pair: Json) -> Iterator[str]:
    rate, time = pair["pass_rate"], pair["time"]
    yield from _wrap(pair["sentence"], "")
    rows = [
        ("pass rate", f"{_percent(rate['a'])} and {_percent(rate['b'])} on {counted(pair['tasks']['common'], 'task')}"),
        ("tasks like these", f"{_range(rate['low'], rate['high'])}, sign-flip p {_p(rate['p'])}, q {_p(rate['q'])}"),
        ("these tasks", f"{_range(rate['these_low'], rate['these_high'])}, exact p {_p(rate['these_p'])}, "
                        f"q {_p(rate['these_q'])}: {pair['reading_these_tasks']}"),
        ("time to green", f"log-rank p {_p(time['p'])}, q {_p(time['q'])}: {time['reading']}"
                          + (f", {time['sooner']} sooner" if time["sooner"] else CROSS * (time["reading"] == SEPARATED))
                          + (f"; mean {time['difference_seconds']:+.1f} s" if time["difference_seconds"] is not None
                             else "")),
        (f"pass^{pair['reliability']['k'] or 'k'}", _reliability(pair["reliability"])),
        *((f"{name} of a success", _ratio(pair[name])) for name in ("cost", "tokens", "seconds")),
    ]  # fmt: skip
    if len(pair["changed"]) == 1 and not pair["axes"]:  # the labels say what differs otherwise, the notes what is more
        rows.insert(0, ("what changed", pair["changed"][0]))
    for name, text in rows:
        yield from textwrap.wrap(_clean(text), WIDTH, initial_indent=f"  {name:<20} ", subsequent_indent=" " * 23)
    stand_out = [t for t in pair["per_task"] if t["q"] is not None and t["q"] <= 0.05]
    for task in stand_out:
        yield from _wrap(f"{task['task']}: {task['a_passes']}/{task['a_attempts']} and {task['b_passes']}/"
                         f"{task['b_attempts']}, q {_p(task['q'])}")  # fmt: skip
    for note in pair["notes"]:
        yield from _wrap(note)
    yield ""


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


def _wrap(text: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(_clean(text), WIDTH, initial_indent=indent, subsequent_indent=indent)


def _percent(value: float | None) -> str:
    return "n/a" if value is None else f"{100 * value:.0f} %"


def _p(value: float | None) -> str:
    return "n/a" if value is None else "<.001" if value < 0.001 else f"{value:.3f}"


def _range(low: float | None, high: float | None) -> str:
    return "no interval" if low is None or high is None else f"{points(low)} to {points(high)} points"


def _reliability(one: Json) -> str:
    """Without a verdict: it is a function of the same passes as the pass rate."""
    if not one["tasks"]:
        return "n/a: no task has that many scored attempts on both sides"
    return f"{_percent(one['a'])} and {_percent(one['b'])} on {counted(one['tasks'], 'task')}"


def _ratio(one: Json) -> str:
    if one["ratio"] is None:
        return "n/a"
    interval = f" [{one['low']:.2f}, {one['high']:.2f}]" if one["low"] is not None else ""
    return f"x {one['ratio']:.2f}{interval}, q {_p(one['q'])}, {counted(one['tasks'], 'task')}"
