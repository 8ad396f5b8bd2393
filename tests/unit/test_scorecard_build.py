"""The scorecard of fabricated attempts."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fairtrial import registry
from fairtrial.analysis import scorecard
from fairtrial.contracts import schema

from tests import attempt_frames as frames

TESTS = Path(__file__).parents[1]
cell, of_rows = frames.cell, frames.of_rows


def arm(card: dict[str, Any], harness: str, **wanted: Any) -> dict[str, Any]:
    (found,) = [r for r in card["arms"] if r["harness"] == harness and all(r[k] == v for k, v in wanted.items())]
    return found


def build(rows: list[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    return scorecard.build(of_rows(rows), None, settings)


def test_page_of_the_design() -> None:
    """The design's 3 x 2 x 10 x 5 page comes out as printed: rates, intervals, pass^4, flips, flaky tasks, ranks."""
    card = scorecard.build(frames.page(), None, {"k": [4]})
    assert schema.problems(card, "scorecard") == []
    printed = {
        ("alder", "m-large"): ("96", "47/49", "84-99", "84", "8", 2, "1-4"),
        ("birch", "m-large"): ("96", "48/50", "84-99", "84", "8", 2, "1-5"),
        ("alder", "m-small"): ("86", "41/48", "67-94", "56", "23", 5, "1-5"),
        ("birch", "m-small"): ("84", "42/50", "65-94", "56", "24", 5, "1-5"),
        ("cedar", "m-large"): ("60", "30/50", "41-77", "16", "44", 9, "2-6"),
        ("cedar", "m-small"): ("40", "20/49", "19-65", "6", "30", 6, "5-6"),
    }

    def percent(x: float) -> str:
        return str(math.floor(100 * x + 0.5 + 1e-9))

    seen = {}
    for row in card["arms"]:
        c = row["correctness"]
        interval = f"{percent(c['like_low'])}-{percent(c['like_high'])}"
        ratio = f"{c['passes']}/{row['counts']['scored']}"
        rank = f"{row['rank']['low']}-{row['rank']['high']}"
        reliable = percent(c["pass_hat_k"]["4"]["value"])
        seen[row["harness"], row["model"]] = (
            percent(c["pass_rate"]), ratio, interval, reliable, percent(c["flip_rate"]), c["flaky_tasks"], rank,
        )  # fmt: skip
    assert seen == printed


def test_order_of_rows_is_irrelevant() -> None:
    """Shuffled attempts give the same scorecard to the byte."""
    frame = frames.page()
    mixed = frame.sample(frac=1, random_state=3).reset_index(drop=True)
    assert json.dumps(scorecard.build(frame, None)) == json.dumps(scorecard.build(mixed, None))


def test_plain_pandas_gives_the_same() -> None:
    """Object and float columns are read like Arrow ones."""
    frame = frames.page()
    plain = pd.DataFrame({n: frame[n].to_numpy(dtype=object, na_value=None) for n in frame.columns})
    assert scorecard.build(frame, None) == scorecard.build(plain, None)


def test_unscored_is_listed_and_never_counted() -> None:
    """A verifier error is in no rate; both bounds say what it could have been."""
    rows = cell(3, 4) + cell(0, 1, repetition=9, scored=False, outcome=None, verdict="verifier_error")
    row = arm(build(rows), "h")
    assert row["counts"]["scored"] == 4 and row["counts"]["unscored"] == 1
    c = row["correctness"]
    assert c["pass_rate"] == 0.75 and c["if_unscored_failed"] == 0.6 and c["if_unscored_passed"] == 0.8


def test_faults_exclusions_and_missing_are_not_zeros() -> None:
    """Attempts without a result change no rate and are counted by what became of them."""
    empty = {"outcome": None, "scored": None, "ending": None, "agent_seconds": None, "cost_usd": None}
    rows = cell(2, 2)
    for state in ("fault", "not_run", "excluded", "problem"):
        rows += cell(0, 1, status=state, repetition=len(rows) + 1, **empty)
    rows += cell(1, 1, status="excluded", repetition=9)
    row = arm(build(rows), "h")
    counts = row["counts"]
    assert [counts[x] for x in ("planned", "done", "faults", "not_run", "excluded", "problems")] == [7, 2, 1, 1, 2, 1]
    assert row["correctness"]["pass_rate"] == 1.0 and row["time_cost"]["cost_known"] == 2


def test_nothing_scored_is_null() -> None:
    """An arm of faults only has nulls, not zeros, and does not end the report."""
    rows = cell(0, 2, status="fault", outcome=None, scored=None, agent_seconds=None, cost_usd=None)
    card = build(rows, k=[1, 3])
    row = arm(card, "h")
    assert row["correctness"]["pass_rate"] is None and row["correctness"]["these_low"] is None
    assert row["correctness"]["pass_hat_k"]["3"] == {"value": None, "tasks": 0, "of": 0}
    assert row["time_cost"]["median_seconds_to_green"] is None and row["time_cost"]["cost_per_success_usd"] is None
    assert card["by_task"][0]["pass_rate"] is None
    json.dumps(card, allow_nan=False)


def test_no_attempt_at_all() -> None:
    """An empty table gives an empty, valid scorecard."""
    card = scorecard.build(of_rows(cell(1, 1)).iloc[:0], None)
    assert card["arms"] == [] and card["by_task"] == [] and schema.problems(card, "scorecard") == []


def test_k_above_the_attempts_is_null_and_said() -> None:
    """pass@5 of a suite with one task of five and one of two is that one task's, and says 1 of 2."""
    rows = cell(2, 5, task="a") + cell(1, 2, task="b")
    row = arm(build(rows, k=[1, 5, 9]), "h")["correctness"]
    assert row["pass_at_k"]["5"] == {"value": 1.0, "tasks": 1, "of": 2}
    assert row["pass_hat_k"]["9"] == {"value": None, "tasks": 0, "of": 2}
    assert row["pass_at_k"]["1"]["value"] == pytest.approx(0.45)


def test_simulated_is_never_pooled() -> None:
    """Simulated rows of the same arm are an arm of their own, apart in the rank."""
    card = build(cell(5, 5) + cell(0, 5, simulated=True, repetition=1))
    assert [row["simulated"] for row in card["arms"]] == [False, True]
    assert [row["correctness"]["pass_rate"] for row in card["arms"]] == [1.0, 0.0]
    assert {row["arm"] for row in card["arms"]} == {"h/git/warm/m", "h/git/warm/m (simulated)"}
    assert {(g["simulated"], g["arms"]) for g in card["rank"]} == {(False, 1), (True, 1)}


def test_cold_apart_from_warm() -> None:
    """The same agent, cold and warm, is two arms in two rank groups."""
    card = build(cell(5, 5) + cell(2, 5, adoption="cold"))
    assert [(row["adoption"], row["correctness"]["passes"]) for row in card["arms"]] == [("warm", 5), ("cold", 2)]
    assert [group["adoption"] for group in card["rank"]] == ["cold", "warm"]


def test_reference_and_noop_are_shown_and_not_ranked() -> None:
    """They calibrate the tasks: rows at the end, no rank, whatever their entry is called."""
    rows = cell(1, 5) + cell(5, 5, harness="gold") + cell(0, 5, harness="noop")
    matrix = {"cells": [{"harness": "gold", "adapter": "reference"}], "k": [2]}
    card = scorecard.build(of_rows(rows), matrix, None)
    assert [(r["harness"], r["role"], r["compared"]) for r in card["arms"]] == [
        ("h", "agent", True), ("gold", "reference", False), ("noop", "noop", False),
    ]  # fmt: skip
    assert card["k"] == [2] and sum(group["arms"] for group in card["rank"]) == 1
    assert card["arms"][1]["rank"] is None


def test_cost_of_a_success() -> None:
    """Known cost over passes of known cost, never over all passes; an unknown cost is not 0."""
    rows = cell(3, 4)
    for row, cost in zip(rows, (0.1, None, 0.3, 0.4), strict=True):
        row["cost_usd"] = cost
    figures = arm(build(rows), "h")["time_cost"]
    assert figures["cost_per_success_usd"] == pytest.approx(0.4)
    assert figures["cost_known"] == 3 and figures["cost_known_share"] == 0.75
    unknown = arm(build(cell(3, 4, cost_usd=None)), "h")
    assert unknown["time_cost"]["cost_per_success_usd"] is None and unknown["time_cost"]["cv_cost"] is None
    assert unknown["counts"]["spent_known_usd"] is None


def test_giving_up_early_is_not_fast() -> None:
    """An attempt that gives up after 5 s counts at its budget; effort is that of green attempts only."""
    rows = cell(1, 2, tool_calls=10) + cell(0, 2, repetition=7, agent_seconds=5.0, tool_calls=1, ending="agent_error")
    figures = arm(build(rows), "h")
    assert figures["time_cost"]["median_seconds_to_green"] is None
    assert figures["time_cost"]["mean_seconds_to_green"] == pytest.approx((60 + 3 * 1800) / 4)
    assert figures["effort"]["green_tool_calls"] == 10 and figures["effort"]["green_attempts"] == 1
    assert figures["time_cost"]["seconds_to_first_green"] == pytest.approx(60 + 61 + 5 + 5)


def test_same_changes_are_alike() -> None:
    """Approach similarity compares passing attempts of one task; two empty changes are flagged, not alike."""
    rows = cell(3, 4, task="a", changed_lines='["x","y"]') + cell(2, 2, task="b", changed_lines="[]")
    rows[2]["changed_lines"] = '["x","z"]'
    figures = arm(build(rows), "h")["correctness"]
    assert figures["approach_similarity"] == pytest.approx(5 / 9)
    assert figures["similarity_tasks"] == 1 and figures["empty_changes"] == 1


def test_not_checked_is_not_kept() -> None:
    """Compliance that nobody looked at is null; the number of attempts looked at stands beside it."""
    rows = cell(2, 2) + cell(1, 1, repetition=3, violations=2, protected_ok=False)
    figures = arm(build(rows), "h")["compliance"]
    assert figures["violations"] == 2 and figures["violations_checked"] == 1
    assert figures["protected_kept"] == 0 and figures["protected_checked"] == 1
    assert figures["foreign_requests"] is None and figures["acceptance_untouched"] is None


def test_parts_add_up() -> None:
    """Suites, languages and tags hold the same attempts; a task with two tags counts for both."""
    rows = cell(2, 3, task="a", tags='["bug","io"]') + cell(1, 3, task="b", suite="z", language="go", tags="[]")
    card = build(rows)
    assert [(p["suite"], p["correctness"]["passes"]) for p in card["by_suite"]] == [("s", 2), ("z", 1)]
    assert [(p["language"], p["counts"]["scored"]) for p in card["by_language"]] == [("go", 3), ("python", 3)]
    assert [(p["tag"], p["correctness"]["passes"]) for p in card["by_tag"]] == [("bug", 2), ("io", 2)]
    assert [(t["task"], t["pass_rate"]) for t in card["by_task"]] == [("a", 2 / 3), ("b", 1 / 3)]


def test_rows_per_task_agree_with_the_arm() -> None:
    """The vectorised task rows equal the metrics computed on each task alone."""
    frame = frames.many(600, 5, [("a", "m", 0.6), ("b", "m", 0.5)], seed=2)
    card = scorecard.build(frame, None, {"k": [2]})
    for row in card["by_task"]:
        alone = scorecard.build(
            frame[(frame["task"] == row["task"]) & (frame["suite"] == row["suite"])], None, {"k": [2]}
        )
        whole = arm(alone, row["arm"].split("/")[0])
        c, t = whole["correctness"], whole["time_cost"]
        assert row["pass_rate"] == c["pass_rate"] and row["these_low"] == pytest.approx(c["these_low"])
        assert row["pass_hat_k"]["2"] == pytest.approx(c["pass_hat_k"]["2"]["value"])
        assert row["flip_rate"] == pytest.approx(c["flip_rate"])
        for name in (
            "median_seconds_to_green",
            "mean_seconds_to_green",
            "cost_per_success_usd",
            "cv_cost",
            "cv_tokens",
        ):
            assert row[name] == (t[name] if t[name] is None else pytest.approx(t[name], rel=1e-9)), name


def test_every_column_is_defined_once() -> None:
    """Metric columns have one owner and a caption, and each metric gives exactly the columns it declares."""
    owners = [name for module in scorecard.metrics() for name in module.COLUMNS]
    assert len(owners) == len(set(owners))
    assert set(registry.names(scorecard.METRICS)) == {m.__name__.rsplit(".", 1)[-1] for m in scorecard.metrics()}
    row = arm(build(cell(2, 3)), "h")
    for module in scorecard.metrics():
        assert set(module.COLUMNS) <= set(row[module.GROUP]), module.__name__
    assert set().union(*(row[group] for group in scorecard.GROUPS)) == set(owners)


def test_files(tmp_path: Path) -> None:
    """Three files with the same figures; hostile text stays text, null is empty, types do not follow the data."""
    import pyarrow.parquet as pq

    rows = cell(2, 3, model_observed="=cmd()") + cell(0, 2, harness="z", cost_usd=None)
    card = build(rows, k=[1, 3])
    scorecard.write(card, tmp_path / "one")
    scorecard.write(card, tmp_path / "two")
    for name in ("scorecard.json", "scorecard.csv", "scorecard.parquet"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    with (tmp_path / "one" / "scorecard.csv").open(newline="", encoding="utf-8") as stream:
        read = list(csv.DictReader(stream))
    assert read[0]["models_observed"] == "'=cmd()" and read[0]["pass_hat_3_tasks"] == "1"
    assert float(read[0]["pass_rate"]) == 2 / 3 and read[1]["cost_per_success_usd"] == ""
    table = pq.read_table(tmp_path / "one" / "scorecard.parquet")
    assert table.column_names == list(read[0]) and str(table.schema.field("approach_similarity").type) == "double"
    assert json.loads((tmp_path / "one" / "scorecard.json").read_bytes())["arms"] == card["arms"]


def test_a_line_break_in_a_version_ends_no_row(tmp_path: Path) -> None:
    """What a program calls its version is text of others: a lone carriage return stays inside its cell."""
    scorecard.write(build(cell(1, 1, harness_version="1.0\r=2")), tmp_path)
    with (tmp_path / "scorecard.csv").open(newline="", encoding="utf-8") as stream:
        assert [row["harness_versions"] for row in csv.DictReader(stream)] == ["1.0\r=2"]


def test_a_failure_without_a_budget_has_no_time() -> None:
    """An imported arm that fails fast has no mean to green and no budget; the median of what was green stays."""
    rows = [dict(row, wall_budget_seconds=None, harness="x") for row in cell(3, 5)]
    rows += [dict(row, wall_budget_seconds=None, harness="y") for row in cell(3, 3)]
    card = build(rows)
    assert schema.problems(card, "scorecard") == []
    partly, wholly = (arm(card, name)["time_cost"] for name in "xy")
    assert (partly["mean_seconds_to_green"], partly["budget_seconds"], partly["median_seconds_to_green"]) == (
        None,
        None,
        62,
    )
    assert (wholly["mean_seconds_to_green"], wholly["mean_seconds_to_green_se"]) == (61, None)
