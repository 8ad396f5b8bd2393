"""Costs counted from tokens, in tables that are made by hand: away from the configuration that named the prices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from fairtrial.capture.spend import invocation
from fairtrial.contracts.records import dump
from fairtrial.paths import Results

from tests.lab import Lab

SAID = {"type": "result", "subtype": "success", "result": "ok", "num_turns": 1,
        "usage": {"input_tokens": 1_000_000, "output_tokens": 0}}  # fmt: skip


def costs(results: Path, below: str = "default/dataset") -> list[tuple[float | None, str | None]]:
    """(cost, source) of each attempt."""
    rows = pq.read_table(results / below / "attempts.parquet", columns=["cost_usd", "cost_source"]).to_pylist()
    return [(row["cost_usd"], row["cost_source"]) for row in rows]


def test_tables_made_by_hand_have_the_prices_of_the_run(tmp_path: Path) -> None:
    """`dataset`, `dataset --from`, the report so far and a selection cost what the run's own tables do."""
    lab = Lab(tmp_path, tasks=["one"])
    template = ["sh", "-c", f"echo 42 > answer.txt; echo '{json.dumps(SAID)}'"]
    lab.harnesses["talker"] = {"adapter": "command", "network": "none",
                               "options": {"template": template, "output": "claude-json"}}  # fmt: skip
    lab.models["priced"] = {"id": "m", "price": {"input": 1, "output": 1, "date": "2026-01-01"}}
    lab.config.update(harnesses=["talker"], models=["priced"], repetitions=1, spend={"allow": True})
    lab.write()
    assert lab.snakemake().returncode == 0
    expected = [(1.0, "price_table")]
    assert costs(lab.results) == expected
    for arguments, where in (
        (["dataset"], lab.results / "default"),
        (["report", "--so-far"], lab.results / "default/so-far"),
        (["dataset", "--from", "results", "--results", "merged"], tmp_path / "merged/default"),
        (["report", "--so-far", "--results", "merged"], tmp_path / "merged/default/so-far"),
        (["report", "--attempts", "results", "--out", "chosen"], tmp_path / "chosen"),
    ):
        done = lab.fairtrial(*arguments)
        assert done.returncode == 0, done.stderr
        assert costs(where, "dataset") == expected, arguments


def test_the_newest_run_of_the_experiment_itself_prices(tmp_path: Path) -> None:
    """The newest run's price holds, in any order of the trees; that of the named experiment goes first."""
    trees = [Results(tmp_path / name) for name in "ab"]

    def ran(tree: Results, own: str, name: str, when: str, prices: dict[str, Any] | None) -> None:
        record = {"attempt_id": f"experiment {name}", "started_at": when, "prices": prices}
        dump(tree.invocation(own) / "start.json", record)

    ran(trees[0], "1", "x", "2026-01-01", {"m": {"input": 1}, "only": {"input": 9}})
    ran(trees[1], "2", "x", "2026-01-02", {"m": {"input": 2}})
    ran(trees[0], "3", "y", "2026-01-03", {"m": {"input": 3}})
    ran(trees[1], "4", "x", "2026-01-04", None)  # of an older fairtrial
    for order in (trees, trees[::-1]):
        assert invocation.prices(order) == {"m": {"input": 3}, "only": {"input": 9}}
        assert invocation.prices(order, "x") == {"m": {"input": 2}, "only": {"input": 9}}
