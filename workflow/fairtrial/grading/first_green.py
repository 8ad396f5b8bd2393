"""First green by replay: when did the workspace first pass, as an interval (last red, first green].

`replay` judges the distinct trees of an attempt's looks, each in a fresh folder, in the order in which they appeared;
green is not monotonic, so nothing is bisected while all can be judged. `decide` turns the table into the record. What
the two can and cannot tell is in docs/first-green.md.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NotRequired, Protocol, TypedDict

from fairtrial.contracts.lean import field, lean
from fairtrial.instruments.snapshots.store import remove

Verdict = Literal["green", "red", "unknown"]
Judge = Callable[[Path], Verdict]
MOST_TREES = 120  # judged per replay


class Row(TypedDict):
    """One look with its verdict. Seconds from the agent's start; `unknown` also when it was not judged."""

    at_seconds: float  # the look was complete
    began_seconds: NotRequired[float]  # its first file was read
    until_seconds: NotRequired[float]  # it was still the same tree
    tree: str
    verdict: Verdict
    settled: bool  # the tree stood for 200 ms
    reason: NotRequired[str]  # start, change, command, end
    unfinished: NotRequired[bool]  # a file that had just changed had changed again at the next tree: half-written?


class Snapshotted(Protocol):
    """What replay needs of an attempt's snapshots: instruments.snapshots.export.Recording is one."""

    looks: list[dict[str, Any]]

    def incomplete(self, tree_id: str) -> list[bytes]:
        """Paths whose contents were not kept."""

    def restore(self, tree_id: str, into: Path) -> list[bytes]:
        """Lay the tree out in a new folder."""

    def changed(self, before: str, after: str) -> set[bytes]:
        """Paths in which two trees differ."""


@lean
class Replay:
    """The table, the verdict of each judged tree, and why some were not judged."""

    table: list[Row]
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    distinct: int = 0
    capped: bool = False
    incomplete: int = 0

    def record(self) -> dict[str, Any]:
        """For replay.json beside result.json."""
        return {
            "schema_version": 1, "distinct": self.distinct, "judged": len(self.verdicts), "capped": self.capped,
            "incomplete": self.incomplete, "table": self.table,
        }  # fmt: skip


def replay(
    snapshots: Snapshotted,
    judge: Judge,
    limit: int = MOST_TREES,
    *,
    known: Mapping[str, Verdict] | None = None,
    scratch: Path | None = None,
) -> Replay:
    """Judge each distinct tree once. `judge` gets a fresh folder it may change; `known` verdicts are reused, free.

    With more than `limit` trees to judge, `limit` is spent like this: the first, the last and evenly chosen ones take
    half; the rest halves the gap before the first certain green found, again and again, and asks the tree after a
    green one that had not settled. What is left stays `unknown`.
    A tree with files that were too large to keep is `unknown`.
    """
    order = list(dict.fromkeys(str(look["tree"]) for look in snapshots.looks))
    verdicts: dict[str, Verdict] = {tree: v for tree, v in (known or {}).items() if tree in order}
    broken = {tree for tree in order if tree not in verdicts and snapshots.incomplete(tree)}
    whole = [tree for tree in order if tree not in broken]
    todo = [tree for tree in whole if tree not in verdicts]

    def look_at(trees: Iterable[str]) -> None:
        for tree in trees:
            verdicts[tree] = _judge_one(snapshots, tree, judge, scratch)

    capped = len(todo) > limit
    if not capped:
        look_at(todo)
    else:
        look_at(_evenly(todo, max(1, limit // 2)))
        spent = max(1, limit // 2)
        stood = {str(look["tree"]) for look in snapshots.looks if look["settled"]}
        while spent < limit and (tree := _next(whole, verdicts, stood)) is not None:
            look_at([tree])
            spent += 1
    table = [_row(look, verdicts.get(str(look["tree"]), "unknown")) for look in snapshots.looks]
    mark_unfinished(snapshots, table)
    return Replay(table, verdicts, len(order), capped, len(broken))


def mark_unfinished(snapshots: Snapshotted, table: Sequence[Row]) -> None:
    """A slow write can pass through several trees that look green; the next tree shows that it went on.

    By the verdicts in `table`, so each table of an attempt is marked on its own.
    """
    turns = [i for i, row in enumerate(table) if i == 0 or table[i - 1]["tree"] != row["tree"]]
    for last, here, following in zip(turns, turns[1:], turns[2:], strict=False):
        if table[here]["verdict"] == table[following]["verdict"] == "green":
            before = snapshots.changed(table[last]["tree"], table[here]["tree"])
            table[here]["unfinished"] = bool(before & snapshots.changed(table[here]["tree"], table[following]["tree"]))


def _judge_one(snapshots: Snapshotted, tree: str, judge: Judge, scratch: Path | None) -> Verdict:
    folder = Path(tempfile.mkdtemp(prefix="replay-", dir=scratch))
    try:
        snapshots.restore(tree, folder / "tree")
        return judge(folder / "tree")
    finally:
        remove(folder)


def _evenly(trees: Sequence[str], count: int) -> list[str]:
    """`count` of them, the first and the last among them, in order."""
    if count == 1:
        return [trees[-1]]
    last = len(trees) - 1
    return [trees[i] for i in sorted({round(step * last / (count - 1)) for step in range(count)})]


def _next(order: Sequence[str], verdicts: Mapping[str, Verdict], stood: Container[str]) -> str | None:
    """The tree not judged yet that tells most about first green; None when nothing is open before it.

    `stood`: trees that settled. A green tree that did not is confirmed or refuted by the one after it.
    """
    found = [verdicts.get(tree) for tree in order]
    green = [i for i, verdict in enumerate(found) if verdict == "green"]
    sure = [i for i in green if order[i] in stood or found[i + 1 : i + 2] == ["green"]]
    open_greens = [i for i in green if i not in sure and found[i + 1 : i + 2] == [None]]
    if open_greens and (not sure or open_greens[0] < sure[0]):
        return order[open_greens[0] + 1]
    if not green:
        return None
    first = (sure or green)[0]
    before = max((i for i in range(first) if found[i] == "red"), default=-1)
    gap = [i for i in range(before + 1, first) if found[i] is None]
    return order[gap[(len(gap) - 1) // 2]] if gap else None


def _row(look: Mapping[str, Any], verdict: Verdict) -> Row:
    row: Row = {
        "at_seconds": look["at_ns"] / 1e9, "began_seconds": (look["at_ns"] - look["took_ns"]) / 1e9,
        "tree": look["tree"], "verdict": verdict, "settled": look["settled"], "reason": look["reason"],
    }  # fmt: skip
    if look.get("until_ns") is not None:
        row["until_seconds"] = look["until_ns"] / 1e9
    return row


@lean
class _Stay:
    """Looks in a row that found the same tree."""

    tree: str
    verdict: Verdict
    first_seconds: float  # it was there at the latest
    last_seconds: float  # it was still there
    settled: bool
    unfinished: bool


def decide(table: Sequence[Row], agent_seconds: float) -> dict[str, Any]:
    """The record `first_green` of schemas/result/time_cost from a table in order of time. Pure.

    First green is the first tree that was green and certain: it stood for 200 ms, or the next tree was green too and
    left alone what had just changed. A flash of green counts only when nothing certain follows; `certain` is false
    then.
    """
    stays = _stays(table)
    if not any(stay.verdict != "unknown" for stay in stays):
        return _nothing("no snapshots" if not stays else "no snapshot could be judged", stays)
    green = [i for i, stay in enumerate(stays) if stay.verdict == "green"]
    reds = [i for i, stay in enumerate(stays) if stay.verdict == "red"]
    if not green:
        record = _nothing("never green" if len(reds) == len(stays) else "never seen green; some were not judged", stays)
        record["lower_seconds"] = stays[reds[-1]].last_seconds
        return record
    first = next((i for i in green if _certain(stays, i)), green[0])
    before = [i for i in reds if i < first]
    after = {stay.verdict for stay in stays[first + 1 :]}
    lower = stays[before[-1]].last_seconds if before else None
    upper = stays[first].first_seconds
    if upper > agent_seconds:  # seen only by the look after the end
        upper = max(agent_seconds, lower or 0.0)
    return {
        "lower_seconds": lower,
        "upper_seconds": upper,
        "certain": _certain(stays, first),
        "went_red_again": True if "red" in after else None if "unknown" in after else False,
        "seconds_after": max(0.0, agent_seconds - upper),
        "snapshots": _judged(stays),
        "reason": "no look before it could be judged" if first and not before else None,
        "tree": stays[first].tree,
    }


def _certain(stays: Sequence[_Stay], i: int) -> bool:
    confirmed = i + 1 < len(stays) and stays[i + 1].verdict == "green" and not stays[i].unfinished
    return stays[i].settled or confirmed


def _judged(stays: Sequence[_Stay]) -> int:
    return len({stay.tree for stay in stays if stay.verdict != "unknown"})


def _nothing(reason: str, stays: Sequence[_Stay]) -> dict[str, Any]:
    return {
        "lower_seconds": None, "upper_seconds": None, "certain": None, "went_red_again": None, "seconds_after": None,
        "snapshots": _judged(stays), "reason": reason, "tree": None,
    }  # fmt: skip


def _stays(table: Sequence[Row]) -> list[_Stay]:
    stays: list[_Stay] = []
    for row in table:
        began = row.get("began_seconds", row["at_seconds"])
        seen = max(began, row.get("until_seconds", began))
        if stays and stays[-1].tree == row["tree"]:
            stays[-1].last_seconds = seen
            stays[-1].settled |= row["settled"]
        else:
            unfinished = row.get("unfinished", False)
            stays.append(_Stay(row["tree"], row["verdict"], row["at_seconds"], seen, row["settled"], unfinished))
    return stays
