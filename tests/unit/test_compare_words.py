"""What a comparison may say: a time verdict of its own, what is out of reach, each pair once."""

from __future__ import annotations

from typing import Any

import pytest
from fairtrial.analysis import compare, compare_text

from tests.attempt_frames import BUDGET, cell, of_rows

Rows = list[dict[str, Any]]


def suite(passes: list[int], size: int = 5, **same: Any) -> Rows:
    """Attempts of one arm, `size` a task."""
    return [row for task, c in enumerate(passes) for row in cell(c, size, task=f"t{task:02d}", **same)]


def at(rows: Rows, factor: float) -> Rows:
    """The same attempts, green so many times later."""
    return [dict(row, seconds_to_green=row["seconds_to_green"] and factor * row["seconds_to_green"]) for row in rows]


def said(record: dict[str, Any]) -> str:
    """The terminal's text as one line."""
    return " ".join(" ".join(compare_text.lines(record)).split())


def one(rows: Rows, a: str, b: str) -> tuple[dict[str, Any], str]:
    """The only pair, and what the terminal is told."""
    record = compare.compare(of_rows(rows), a, b)
    (pair,) = record["pairs"]
    return pair, said(record)


def test_time_has_a_verdict_of_its_own() -> None:
    """Equal pass rates, one arm twice as slow: rates not separated, time separated, ratio about 2."""
    pair, _ = one(suite([5] * 8, harness="x") + at(suite([5] * 8, harness="y"), 2), "x", "y")
    assert pair["reading"] == "not separated" and pair["time"]["reading"] == "separated"
    assert pair["time"]["sooner"] == "x/git/warm/m"
    assert pair["seconds"]["ratio"] == pytest.approx(0.5) and pair["seconds"]["tasks"] == 8


def test_curves_that_cross_have_nobody_sooner() -> None:
    """Green early but less often: the log-rank test says x, the mean up to the budget says y, and so none is named."""
    pair, text = one(suite([8] * 10, 10, harness="x") + at(suite([10] * 10, 10, harness="y"), 4), "x", "y")
    time = pair["time"]
    assert time["reading"] == "separated" and time["observed"] > time["expected"]
    assert 0 < time["difference_seconds"] < BUDGET and pair["better"] == "y/git/warm/m"
    assert time["sooner"] is None
    assert "the curves cross: nobody is sooner throughout" in text


def test_no_difference_above_a_hundred_points_is_promised() -> None:
    """Two tasks with one attempt of each cannot show anything, and the note says so instead of 200 points."""
    pair, text = one(suite([1, 0], 1, harness="x") + suite([0, 0], 1, harness="y"), "x", "y")
    assert pair["detectable"]["planned"] > 1
    assert (
        "With 2 tasks and 1 attempt of each, even the largest difference there can be usually goes undetected" in text
    )


def test_the_headline_says_which_tasks_it_is_about() -> None:
    """Not separated for tasks like these and separated on these: both stand in the text, and the first says of what."""
    pair, text = one(suite([4], 9, harness="x") + suite([9], 9, harness="y"), "x", "y")
    assert (pair["reading"], pair["reading_these_tasks"]) == ("not separated", "separated")
    assert text.startswith("For tasks like these, x/git/warm/m and y/git/warm/m are not separated: -56 points; no")
    assert "44 % and 100 % on 1 task tasks like these" in text
    assert "Out of reach for tasks like these: 1 of 1 task differs, and then the sign-flip test cannot" in text
    _, same = one(suite([5, 5], harness="x") + suite([5, 5], harness="y"), "x", "y")
    assert "0 of 2 tasks differ," in same
    _, many = one(suite([9] * 8, 9, harness="x") + suite([1] * 8, 9, harness="y"), "x", "y")
    assert many.startswith("For tasks like these, x/git/warm/m passes more often than y/git/warm/m: ")


def test_each_pair_stands_once() -> None:
    """A harness named on both sides gives its models against each other in one direction only."""
    rows = suite([5] * 6, harness="x", model="m1") + suite([3] * 6, harness="x", model="m2")
    (pair,) = compare.compare(of_rows(rows), "x", "x")["pairs"]
    assert (pair["a"]["model"], pair["b"]["model"]) == ("m1", "m2")


def test_attempts_on_both_sides_are_said() -> None:
    """A before and an after that share attempts compare these with themselves."""
    rows = suite([4] * 6, harness="x")
    record = compare.before_after(of_rows(rows[:20]), of_rows(rows[10:]))
    assert "on both sides, and so compared with themselves: attempts 10" in said(record)


def test_without_a_budget_no_mean_favours_whoever_gives_up() -> None:
    """Imported attempts have none: a mean of the greens alone would be smaller for the arm that hardly passes."""
    rows = suite([1] * 8, harness="x") + at(suite([5] * 8, harness="y"), 1.5)
    pair, _ = one([dict(row, wall_budget_seconds=None) for row in rows], "x", "y")
    time = pair["time"]
    assert (time["a_mean_seconds"], time["b_mean_seconds"], time["difference_seconds"]) == (None, None, None)
    assert time["sooner"] == "y/git/warm/m"
