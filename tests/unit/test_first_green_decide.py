"""First green: the decision over a table, and which trees are judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fairtrial.contracts.schema import schema
from fairtrial.grading.first_green import Row, Verdict, decide, replay
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

LONG: dict[str, Verdict] = {"G": "green", "R": "red", "U": "unknown", "g": "green", "r": "red", "u": "unknown"}


def table(text: str) -> list[Row]:
    """One look a second from its verdicts' letters; capitals stood for 200 ms. Each look has a tree of its own."""
    return [
        {"at_seconds": float(i), "tree": f"t{i}", "verdict": LONG[letter], "settled": letter.isupper()}
        for i, letter in enumerate(text)
    ]


def brief(text: str, seconds: float = 10.0) -> tuple[Any, ...]:
    record = decide(table(text), seconds)
    return tuple(
        record[key] for key in ("lower_seconds", "upper_seconds", "certain", "went_red_again", "seconds_after")
    )


@pytest.mark.parametrize(
    ("looks", "expected"),
    [
        ("RRG", (1.0, 2.0, True, False, 8.0)),
        ("RgR", (0.0, 1.0, False, True, 9.0)),  # only a flash: told, and told to be uncertain
        ("RgRG", (2.0, 3.0, True, False, 7.0)),  # a flash before something certain does not count
        ("RggR", (0.0, 1.0, True, True, 9.0)),  # two greens in a row
        ("RGRG", (0.0, 1.0, True, True, 9.0)),  # green, red, green: the first, and it went red again
        ("G", (None, 0.0, True, False, 10.0)),
        ("RUG", (0.0, 2.0, True, False, 8.0)),  # an unknown look widens the interval
        ("RGU", (0.0, 1.0, True, None, 9.0)),  # nobody knows whether it went red
        ("RGUR", (0.0, 1.0, True, True, 9.0)),
        ("RguG", (0.0, 3.0, True, False, 7.0)),  # unknown in between: not two in a row
        ("UG", (None, 1.0, True, False, 9.0)),
        ("RR", (1.0, None, None, None, None)),
        ("UU", (None, None, None, None, None)),
        ("", (None, None, None, None, None)),
    ],
)
def test_the_decision(looks: str, expected: tuple[Any, ...]) -> None:
    """Each row of the rules in docs/first-green.md gives its interval."""
    assert brief(looks) == expected


@pytest.mark.parametrize(
    ("looks", "reason"),
    [("RR", "never green"), ("RU", "never seen green; some were not judged"), ("UU", "no snapshot could be judged"),
     ("", "no snapshots"), ("UG", "no look before it could be judged"), ("RG", None), ("G", None)],
)  # fmt: skip
def test_what_is_null_has_a_reason(looks: str, reason: str | None) -> None:
    """A missing moment or bound is explained in words."""
    assert decide(table(looks), 10.0)["reason"] == reason


def test_looks_at_one_tree_are_one_stay() -> None:
    """The lower bound is the last look at the red tree; two looks at one green tree are not two greens in a row."""
    rows = table("RRgR")
    rows[1]["tree"] = "t0"
    rows[3]["tree"] = "x"
    rows.insert(3, {**rows[2], "at_seconds": 2.01})
    record = decide(rows, 10.0)
    assert (record["lower_seconds"], record["upper_seconds"], record["certain"]) == (1.0, 2.0, False)


def test_a_green_tree_that_is_still_being_written_is_not_confirmed_by_the_next() -> None:
    """Two greens in a row do not count when the second goes on in the file that had just changed."""
    rows = table("RggR")
    rows[1]["unfinished"] = True
    assert decide(rows, 10.0)["certain"] is False
    rows = table("RggG")
    rows[1]["unfinished"] = rows[2]["unfinished"] = True
    record = decide(rows, 10.0)
    assert (record["lower_seconds"], record["upper_seconds"], record["certain"]) == (0.0, 3.0, True)


def test_bounds_use_the_begin_of_a_red_look_and_the_end_of_a_green_one() -> None:
    """While a look is taken files change: a red one proves red only when it began, a green one green only when done."""
    rows = table("RG")
    rows[0]["began_seconds"], rows[1]["began_seconds"] = -0.25, 0.75
    record = decide(rows, 10.0)
    assert (record["lower_seconds"], record["upper_seconds"]) == (-0.25, 1.0)


def test_a_tree_known_to_be_still_there_moves_the_lower_bound() -> None:
    """Between looks the kernel said that nothing had changed: the red tree was red until then, a later look or not."""
    rows = table("RRG")
    rows[1]["until_seconds"] = 1.8
    assert decide(rows, 10.0)["lower_seconds"] == 1.8
    rows[1]["until_seconds"] = 0.5
    assert decide(rows, 10.0)["lower_seconds"] == 1.0


def test_a_green_seen_only_after_the_end_is_dated_at_the_end() -> None:
    """The look after the process ended is later than agent time; the interval ends with the agent."""
    assert brief("RRG", seconds=1.5) == (1.0, 1.5, True, False, 0.0)
    assert brief("RRG", seconds=0.5) == (1.0, 1.0, True, False, 0.0)


@given(st.text("GRUgru", max_size=12), st.floats(0, 20))
def test_every_table_gives_a_valid_record(looks: str, seconds: float) -> None:
    """Any table: the record holds to the schema, lower <= upper, and the tree named is green."""
    rows = table(looks)
    record = decide(rows, seconds)
    Draft202012Validator(schema("result/time_cost")["properties"]["first_green"]).validate(record)
    if record["upper_seconds"] is not None:
        assert (record["lower_seconds"] or 0) <= record["upper_seconds"]
        assert next(row["verdict"] for row in rows if row["tree"] == record["tree"]) == "green"
        assert record["seconds_after"] >= 0


class Shelf:
    """Trees by name; the tree's only file holds its name."""

    def __init__(self, trees: list[str], incomplete: str = "") -> None:
        self.looks = [
            {"at_ns": i * 10**9, "took_ns": 0, "tree": tree, "settled": True, "reason": "change"}
            for i, tree in enumerate(trees)
        ]
        self._incomplete = incomplete

    def incomplete(self, tree_id: str) -> list[bytes]:
        return [b"big"] if tree_id in self._incomplete.split() else []

    def restore(self, tree_id: str, into: Path) -> list[bytes]:
        into.mkdir()
        (into / "name").write_text(tree_id)
        return []

    def changed(self, before: str, after: str) -> set[bytes]:
        return {b"name"}


class Judge:
    """Green from the tree number `first` on, and for those named; remembers what it judged."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.judged: list[str] = []

    def __call__(self, tree: Path) -> Verdict:
        name = (tree / "name").read_text()
        assert sorted(p.name for p in tree.iterdir()) == ["name"]
        (tree / "leftover").write_text("of this judgement")
        self.judged.append(name)
        return "green" if int(name) >= self.first else "red"


def test_each_distinct_tree_is_judged_once_in_order_in_a_fresh_folder(tmp_path: Path) -> None:
    """Repeated trees share a verdict, a known verdict is not judged again, nothing is left behind."""
    judge = Judge(2)
    result = replay(Shelf(["0", "1", "0", "2", "1", "3"]), judge, known={"3": "green"}, scratch=tmp_path)
    assert judge.judged == ["0", "1", "2"]
    assert [row["verdict"] for row in result.table] == ["red", "red", "red", "green", "red", "green"]
    assert (result.distinct, result.capped, list(tmp_path.iterdir())) == (4, False, [])


def test_an_incomplete_tree_is_unknown_and_not_judged(tmp_path: Path) -> None:
    """A tree with files that were too large to keep gets no verdict."""
    judge = Judge(1)
    result = replay(Shelf(["0", "1", "2"], incomplete="1"), judge, scratch=tmp_path)
    assert judge.judged == ["0", "2"]
    assert [row["verdict"] for row in result.table] == ["red", "unknown", "green"]
    assert (result.incomplete, result.record()["judged"]) == (1, 2)


@pytest.mark.parametrize("first", [0, 1, 37, 613, 998, 999])
def test_past_the_limit_the_boundary_is_still_found(tmp_path: Path, first: int) -> None:
    """1000 trees and 24 judgements: the interval closes in on the first green, and it is said that it was capped."""
    judge = Judge(first)
    result = replay(Shelf([str(i) for i in range(1000)]), judge, 24, scratch=tmp_path)
    assert len(judge.judged) <= 24
    assert len(set(judge.judged)) == len(judge.judged)
    assert result.capped
    record = decide(result.table, 2000.0)
    assert record["upper_seconds"] == first
    assert record["lower_seconds"] == (first - 1 if first else None)
    assert record["snapshots"] == len(judge.judged)


def test_past_the_limit_a_flash_before_first_green_does_not_leave_it_wide(tmp_path: Path) -> None:
    """An unsettled green found first is confirmed or refuted by the next tree, then the gap after it is closed."""
    shelf, judge = Shelf([str(i) for i in range(1000)]), Judge(613)
    shelf.changed = lambda before, after: {before.encode()}  # type: ignore[method-assign]
    for i, look in enumerate(shelf.looks):
        look["settled"] = i % 90 == 0  # so that 613 is certain by 614 alone

    def flashing(tree: Path) -> Verdict:
        return "green" if (tree / "name").read_text() == "315" else judge(tree)  # 315 is among the evenly chosen

    result = replay(shelf, flashing, 40, scratch=tmp_path)
    record = decide(result.table, 2000.0)
    assert result.capped and len(result.verdicts) <= 40
    assert (result.verdicts["315"], result.verdicts["316"]) == ("green", "red")
    assert (record["lower_seconds"], record["upper_seconds"], record["certain"]) == (612.0, 613.0, True)


def test_a_limit_of_one_judges_the_last(tmp_path: Path) -> None:
    """Even one judgement is spent well."""
    judge = Judge(0)
    assert replay(Shelf(["0", "1", "2"]), judge, 1, scratch=tmp_path).capped
    assert judge.judged == ["2"]
