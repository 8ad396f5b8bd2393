"""Comparisons of fabricated arms."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from fairtrial.analysis import compare, compare_versions
from fairtrial.contracts import schema
from fairtrial.contracts.errors import UserError

from tests import attempt_frames as frames

cell, of_rows = frames.cell, frames.of_rows
Rows = list[dict[str, Any]]


def suite(passes: list[int], size: int = 5, **same: Any) -> Rows:
    rows: Rows = []
    for task, c in enumerate(passes):
        rows += cell(c, size, task=f"t{task:02d}", **same)
    return rows


def one(rows: Rows, a: str, b: str, **settings: Any) -> dict[str, Any]:
    (pair,) = compare.compare(of_rows(rows), a, b, settings)["pairs"]
    json.dumps(pair, allow_nan=False)
    return pair


HIGH, LOW = [5, 5, 5, 4, 5, 5, 5, 5], [1, 0, 2, 1, 0, 1, 2, 1]


def test_page_of_the_design() -> None:
    """The design's six paired comparisons come out as printed: points, joint intervals, sign-flip p, readings."""
    tables = compare.all_pairs(frames.page())["tables"]
    assert [table["axis"] for table in tables] == ["harness", "model"]
    seen = {}
    for pair in tables[0]["pairs"]:
        rate = pair["pass_rate"]
        size = pair["sentence"].rsplit(" = ", 1)[-1].rsplit(": ", 1)[-1].split("]")[0]
        key = (pair["a"]["harness"], pair["b"]["harness"], pair["a"]["model"])
        seen[key] = (size, f"{rate['p']:.3f}", pair["reading"])
        assert rate["joint_over"] == 6
    assert seen == {
        ("alder", "birch", "m-large"): ("0 points [-15, +15", "1.000", "not separated"),
        ("alder", "cedar", "m-large"): ("+36 points [+6, +66", "0.004", "separated"),
        ("birch", "cedar", "m-large"): ("+36 points [+4, +68", "0.010", "separated"),
        ("alder", "birch", "m-small"): ("+2 points [-20, +23", "1.000", "not separated"),
        ("alder", "cedar", "m-small"): ("+46 points [+8, +83", "0.004", "separated"),
        ("birch", "cedar", "m-small"): ("+44 points [+8, +80", "0.004", "separated"),
    }
    assert tables[0]["separated"] == 4 and tables[1]["separated"] == 0


def test_separated_names_the_better() -> None:
    """A clear difference names the better arm, in either order, and says nothing else changed."""
    rows = suite(HIGH, harness="x") + suite(LOW, harness="y")
    pair, other = one(rows, "x", "y"), one(rows, "y", "x")
    assert pair["reading"] == other["reading"] == "separated"
    assert pair["better"] == other["better"] == "x/git/warm/m"
    assert pair["pass_rate"]["difference"] == pytest.approx(-other["pass_rate"]["difference"])
    assert not pair["confounded"] and pair["time"]["sooner"] == "x/git/warm/m"
    assert pair["reading_these_tasks"] == "separated"


def test_no_winner_while_unresolved() -> None:
    """A small difference names nobody, whoever is ahead."""
    pair = one(suite([3] * 8, harness="x") + suite([2] * 8, harness="y"), "x", "y")
    pair_close = one(suite([3, 2] * 4, harness="x") + suite([2, 3] * 3 + [2, 2], harness="y"), "x", "y")
    assert pair_close["better"] is None and "no winner" in pair_close["sentence"]
    assert pair["pass_rate"]["difference"] == pytest.approx(0.2)


def test_unequal_task_sets_are_intersected_and_said() -> None:
    """Tasks of one arm only are left out and named; the difference is that of the common ones."""
    rows = suite(HIGH, harness="x") + cell(0, 5, task="only-x", harness="x")
    rows += suite(LOW, harness="y") + cell(5, 5, task="only-y", harness="y")
    pair = one(rows, "x", "y")
    assert pair["tasks"] == {"common": 8, "only_a": ["s/only-x"], "only_b": ["s/only-y"]}
    assert "only-x" in pair["notes"][0] and "8 tasks both have" in pair["notes"][0]
    assert pair["pass_rate"]["difference"] == pytest.approx((sum(HIGH) - sum(LOW)) / 40)


def test_tasks_without_a_scored_attempt_are_no_zeros() -> None:
    """A task where one arm has only faults is not common; nothing in common at all is said, not an exception."""
    broken = cell(0, 5, task="t00", harness="y", status="fault", outcome=None, scored=None)
    pair = one(suite(HIGH, harness="x") + broken + suite(LOW[1:], harness="y")[5:], "x", "y")
    assert "s/t00" in pair["tasks"]["only_a"]
    apart = one(cell(1, 2, task="a", harness="x") + cell(1, 2, task="b", harness="y"), "x", "y")
    assert apart["tasks"]["common"] == 0 and apart["pass_rate"]["difference"] is None
    assert apart["reading"] == "not separated" and "no scored task in common" in apart["sentence"]


def test_five_tasks_cannot_separate() -> None:
    """With five tasks sign-flip never gets below .05: said, and nobody wins however clear it looks."""
    pair = one(suite([5] * 5, harness="x") + suite([0] * 5, harness="y"), "x", "y")
    assert pair["pass_rate"]["p"] == 0.0625 and pair["reading"] == "not separated"
    assert pair["reading_these_tasks"] == "separated"
    assert any("cannot go below 0.0625" in note for note in pair["notes"])
    few = one(suite([5] * 3, harness="x") + suite([0] * 3, harness="y"), "x", "y")
    assert few["pass_rate"]["low"] is None and any("Below 5 tasks" in note for note in few["notes"])
    assert few["pass_rate"]["these_low"] is not None


def test_one_flipped_task_of_ten() -> None:
    """At n = 5 a single flipped task does not survive correction over ten, and the notes say so."""
    rows = suite([5] * 10, harness="x") + suite([0] + [5] * 9, harness="y")
    pair = one(rows, "x", "y")
    assert min(t["q"] for t in pair["per_task"]) > 0.05
    assert any("No single task can stand out" in note for note in pair["notes"])


@pytest.mark.parametrize(
    ("changes", "confounded", "told"),
    [
        ({}, False, []),
        ({"model_observed": "m-2"}, False, ["observed model: m -> m-2"]),
        ({"harness_version": "2.0", "model_observed": "m-2"}, True, ["harness version", "observed model"]),
        ({"harness_version": "2.0", "isolation": "none"}, True, ["harness version", "isolation"]),
        ({"harness_version": "2.0", "recipe": "1" * 12}, False, ["harness version"]),
        ({"recipe": "1" * 12}, False, ["recipe (prompt"]),
        ({"wall_budget_seconds": 60.0, "grade": "b" * 12}, False, ["wall-clock budget"]),
        ({"harness_version": None}, False, []),
    ],
)
def test_two_changes_at_once_are_confounded(changes: dict[str, Any], confounded: bool, told: list[str]) -> None:
    """One changed key is a comparison, two are confounded; unknown on one side is no change."""
    found = compare.before_after(of_rows(suite(LOW)), of_rows(suite(HIGH, **changes)))
    (pair,) = found["pairs"]
    assert pair["confounded"] is confounded
    assert len(pair["changed"]) == len(told)
    assert all(any(key in line for line in pair["changed"]) for key in told)
    assert ("confounded" in pair["sentence"]) is confounded


def test_another_harness_is_one_change() -> None:
    """A harness brings its version and a model its name; harness and model together are two changes."""
    rows = suite(HIGH, harness="x", harness_version="9", grade="a") + suite(LOW, harness="y", grade="b")
    assert one(rows, "x", "y")["changed"] == ["harness: y -> x"]
    both = suite(HIGH, harness="x", model="p", model_observed="p") + suite(LOW, harness="y", model="q")
    assert one(both, "x", "y")["confounded"]


def test_recipes_tell_what_changed() -> None:
    """With the frozen recipes at hand the changed keys are named, two of them being two changes."""
    base = {
        "prompt_sha256": "p",
        "harness": {"version": "1", "options": {"flag": 1, "x": 2}},
        "toolset": {"skills": []},
    }
    other = {
        "prompt_sha256": "p",
        "harness": {"version": "1", "options": {"flag": 2, "x": 2}},
        "toolset": {"skills": [1]},
    }
    before, after = of_rows(suite(LOW)), of_rows(suite(HIGH, recipe="1" * 12))
    (pair,) = compare.before_after(before, after, {"recipes": {"0" * 12: base, "1" * 12: other}})["pairs"]
    assert pair["changed"] == ["recipe: harness.options.flag", "recipe: toolset.skills"] and pair["confounded"]


def test_cost_is_compared_over_green_attempts() -> None:
    """Cost of failures, unknown costs and tasks without a green on both sides are left out."""
    cheap, dear = suite([5] * 6, harness="x", cost_usd=0.1), suite([4] * 6 + [0], harness="y", cost_usd=0.3)
    for row in dear:
        row["cost_usd"] = row["cost_usd"] if row["outcome"] == "green" else 99.0
    cheap[0]["cost_usd"] = None
    pair = one([*cheap, *suite([5] * 7, harness="x", cost_usd=0.1)[30:], *dear], "x", "y")
    assert pair["cost"]["ratio"] == pytest.approx(1 / 3) and pair["cost"]["tasks"] == 6


def test_reliability_is_pass_hat_k_on_common_tasks() -> None:
    """5, 4, 3 of 5 against 5, 5, 0: k is 5 unless asked for; at 2 by hand (1 + .6 + .3) / 3."""
    rows = [*suite([5, 4, 3], harness="x"), *suite([5, 5, 0], harness="y")]
    assert one(rows, "x", "y")["reliability"] == {
        "k": 5, "tasks": 3, "a": pytest.approx(1 / 3), "b": pytest.approx(2 / 3), "difference": pytest.approx(-1 / 3),
    }  # fmt: skip
    (pair,) = compare.compare(of_rows(rows), "x", "y", {"k": 2})["pairs"]
    assert pair["reliability"]["a"] == pytest.approx((1 + 0.6 + 0.3) / 3)


def test_noise_in_cost_has_an_interval() -> None:
    """The ratio's interval holds the ratio and its p is that of the same paired t."""
    frame = frames.many(800, 10, [("x", "m", 0.7), ("y", "m", 0.7)], seed=5)
    (pair,) = compare.compare(frame, "x", "y")["pairs"]
    cost = pair["cost"]
    assert cost["low"] < cost["ratio"] < cost["high"] and 0 < cost["p"] <= 1


def test_simulated_never_meets_measured() -> None:
    """A simulated arm is compared with simulated arms only, in tables and by name."""
    rows = suite(HIGH, harness="x", simulated=True) + suite(LOW, harness="y")
    assert compare.all_pairs(of_rows(rows))["tables"] == []
    with pytest.raises(UserError, match="simulated"):
        one(rows, "x", "y")
    both = suite(HIGH, harness="x", simulated=True) + suite(LOW, harness="y", simulated=True)
    (table,) = compare.all_pairs(of_rows(both))["tables"]
    assert table["simulated"] and len(table["pairs"]) == 1


def test_reference_and_noop_enter_no_comparison() -> None:
    """Not in the tables, said, and refused by name."""
    rows = suite(HIGH, harness="reference") + suite(LOW, harness="y") + suite(HIGH, harness="x")
    found = compare.all_pairs(of_rows(rows))
    assert len(found["tables"][0]["pairs"]) == 1 and "reference" in found["notes"][0]
    with pytest.raises(UserError, match="is never compared"):
        one(rows, "reference", "y")


def test_cold_is_not_compared_with_warm_by_itself() -> None:
    """Tables hold one adoption each; asked for by name the two may be compared."""
    rows = suite(HIGH, adoption="warm") + suite(LOW, adoption="cold")
    assert compare.all_pairs(of_rows(rows))["tables"] == []
    assert one(rows, "cold", "warm")["axes"] == ["adoption"]


def test_names() -> None:
    """Any part names arms, parts pair up, and a wrong name lists the right ones."""
    page = frames.page()
    pairs = compare.compare(page, "alder", "cedar")["pairs"]
    assert [(p["a"]["model"], p["b"]["model"]) for p in pairs] == [("m-large",) * 2, ("m-small",) * 2]
    assert compare.compare(page, "cedar/m-small", "alder/git/warm/m-small")["pairs"][0]["axes"] == ["harness"]
    with pytest.raises(UserError, match="no arm is called 'elm'; arms: alder/git/warm/m-large"):
        compare.compare(page, "elm", "alder")
    with pytest.raises(UserError, match="same arm"):
        compare.compare(page, "alder/m-large", "alder/git/warm/m-large")


def test_before_and_after_match_arms() -> None:
    """Equal names are matched and the rest named; one arm each is compared as it is; else it is refused."""
    before = of_rows(suite(LOW, harness="x") + suite(LOW, harness="gone"))
    found = compare.before_after(before, of_rows(suite(HIGH, harness="x") + suite(HIGH, harness="new")))
    assert found["only_before"] == ["gone/git/warm/m"] and found["only_after"] == ["new/git/warm/m"]
    (pair,) = found["pairs"]
    assert pair["a"]["label"] == "after (x/git/warm/m)" and pair["better"] == pair["a"]["label"]
    renamed = compare.before_after(of_rows(suite(LOW, harness="x")), of_rows(suite(HIGH, harness="x-flag")))
    assert renamed["pairs"][0]["changed"] == ["harness: x -> x-flag"]
    with pytest.raises(UserError, match="no arm is on both sides"):
        compare.before_after(before, of_rows(suite(HIGH, harness="new")))


def test_newest_version_against_three_pooled() -> None:
    """The newest is compared with the previous three together, ordered by number, not by letter."""
    rows: Rows = []
    for version, passes in (("1.2", [5] * 8), ("1.9", [5] * 8), ("1.10", [4] * 8), ("1.11", [5] * 8), ("2.0", LOW)):
        rows += suite(passes, harness_version=version)
    (found,) = compare_versions.versions(of_rows(rows))["arms"]
    assert [v["version"] for v in found["versions"]] == ["1.2", "1.9", "1.10", "1.11", "2.0"]
    assert found["newest"] == "2.0" and found["against"] == ["1.9", "1.10", "1.11"]
    assert found["pair"]["b"]["scored"] == 120 and found["pair"]["reading"] == "separated"
    assert found["pair"]["better"].endswith("1.9, 1.10, 1.11") and not found["pair"]["confounded"]
    assert compare_versions.versions(of_rows(suite(HIGH)))["arms"] == []


def test_versions_without_numbers_go_by_start() -> None:
    """Names such as commit ids are ordered by their first start."""
    import datetime

    def on(day: int) -> Any:
        return datetime.datetime(2026, 1, day, tzinfo=datetime.UTC)

    rows = suite(HIGH, harness_version="zeta", started_at=on(1)) + suite(LOW, harness_version="beta", started_at=on(9))
    (found,) = compare_versions.versions(of_rows(rows))["arms"]
    assert found["newest"] == "beta" and found["ordered_by"] == "first start"


def test_order_of_rows_is_irrelevant() -> None:
    """Shuffled attempts give the same comparisons to the byte."""
    frame = frames.many(1200, 8, [("x", "m", 0.7), ("y", "m", 0.5), ("z", "m", 0.4)], seed=3)
    mixed = frame.iloc[np.random.default_rng(1).permutation(len(frame))]
    left, right = (json.dumps(compare.all_pairs(f), allow_nan=False) for f in (frame, mixed))
    assert left == right


def test_records_are_valid() -> None:
    """Every kind of comparison fits its schema, also when it has little to say."""
    page, few = frames.page(), of_rows(suite([1, 2], harness="x") + suite([2, 2], harness="y"))
    empty = few.iloc[:0]
    records = [compare.all_pairs(page), compare.all_pairs(few), compare.all_pairs(empty),
               compare.compare(few, "x", "y"), compare.before_after(page, page), compare_versions.versions(few),
               compare_versions.versions(of_rows(suite(HIGH, harness_version="2") + suite(HIGH)))]  # fmt: skip
    for record in records:
        assert schema.problems(record, "comparison") == []


def test_correction_over_the_table() -> None:
    """More pairs in a table widen each interval and raise q above p."""
    arms = [suite(HIGH, harness="x"), suite(LOW, harness="y"), suite(HIGH, harness="z"), suite(HIGH, harness="w")]
    alone = one(arms[0] + arms[1], "x", "y")["pass_rate"]
    (table,) = compare.all_pairs(of_rows([row for rows in arms for row in rows]))["tables"]
    among = next(p for p in table["pairs"] if (p["a"]["harness"], p["b"]["harness"]) == ("x", "y"))["pass_rate"]
    assert among["low"] < alone["low"] and among["q"] >= among["p"] == alone["p"] == alone["q"]
    assert among["joint_over"] == 6
