"""rerun-bench result folders as tables: their numbers again, and bad lines named."""

from __future__ import annotations

import json
import time

import pyarrow.parquet as pq
import pytest
from fairtrial.analysis import dataset
from fairtrial.analysis.importers import rerun_bench
from fairtrial.contracts.errors import UserError

META = {
    "schema_version": 1, "run_id": "claude_m_1", "rerun_bench_version": "0.3.0", "agent": "claude", "model": "m-1",
    "agent_options": {}, "cli_version": "2.1.0", "runs_per_task": 3, "seed": 0, "tasks": ["a", "b"],
    "started_at": "2026-01-05T09:00:00+00:00",
}  # fmt: skip


def run(task, index, passed, **more):
    """One line of runs.jsonl."""
    return {
        "task_id": task, "run_index": index, "started_at": "2026-01-05T09:00:00+00:00", "passed": passed,
        "agent_exit_code": 0, "agent_timed_out": False, "agent_error": None, "wall_time_s": 12.5, "input_tokens": 10,
        "output_tokens": 5, "cache_read_tokens": 3, "cache_write_tokens": 0, "cost_usd": 0.25, "model": "m-1-2026",
        "num_turns": 2, "is_error": False, "lines_added": 1, "lines_removed": 0, "files_changed": ["x"],
        "verify_output_tail": "FAIL: no",
    } | more  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A result folder with a doubled line, a torn one, a text for a truth, a timeout and an error set aside."""
    path = tmp_path / "out" / META["run_id"]
    (path / "diffs").mkdir(parents=True)
    (path / "meta.json").write_text(json.dumps(META))
    (path / "diffs" / "a0.diff").write_text("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n")
    (tmp_path / "secret").write_text("outside")
    lines = [
        json.dumps(run("a", 0, True, diff_path="diffs/a0.diff")),
        json.dumps(run("a", 1, True, agent_timed_out=True, diff_path="../../secret")),
        json.dumps(run("a", 1, False)),
        '{"task_id": "a", "run_index": 2, "pass' + json.dumps(run("b", 0, True)),
        json.dumps(run("b", 1, "false")),
        json.dumps(run("b", 2, False)).replace("0.25", "NaN"),
        json.dumps(run("z", 0, True)),
    ]
    (path / "runs.jsonl").write_text("\n".join(lines) + "\n")
    (path / "errors.jsonl").write_text(json.dumps(run("b", 0, False, agent_error="quota")) + "\n")
    return path


def test_rows_faults_and_problems(folder, tmp_path):
    """What is certain is a row, errors are faults, the rest is named; every row is marked foreign."""
    rows = rerun_bench.read([folder.parent])
    dataset.from_rows(rows, tmp_path / "tables")
    table = {row["attempt_id"].split("/")[1] + row["attempt_id"][-1]: row
             for row in pq.read_table(tmp_path / "tables" / "attempts.parquet").to_pylist()}  # fmt: skip
    assert {key: (row["status"], row["outcome"]) for key, row in table.items()} == {
        "a1": ("done", "green"), "a2": ("done", "timeout"), "a3": ("not_run", None),
        "b1": ("fault", None), "b2": ("not_run", None), "b3": ("done", "red"),
    }  # fmt: skip
    assert table["a2"]["check_passed"] is True
    assert table["b3"]["cost_usd"] is None
    assert table["a1"]["patch_sha256"] is not None
    assert table["a2"]["patch_sha256"] is None
    assert {row["foreign"] for row in table.values() if row["status"] == "done"} == {"rerun-bench"}
    reasons = [p["reason"] for p in json.loads((tmp_path / "tables" / "problems.json").read_bytes())["problems"]]
    assert [reason.split(":")[0].split(" is")[0] for reason in sorted(reasons)] == [
        "line 3",
        "line 4",
        "line 5",
        "line 7",
    ]


def test_a_folder_without_results_is_named(tmp_path):
    """One line that says what was expected."""
    with pytest.raises(UserError, match="holds no rerun-bench result"):
        rerun_bench.read([tmp_path])


def test_a_wrong_run_index_is_named(tmp_path):
    """A run that meta.json does not plan, or that is no whole number, is no row and is not dropped silently."""
    (tmp_path / "meta.json").write_text(json.dumps(META))
    lines = [run("a", 3, True), run("a", True, True), run("a", -1, True), run("a", 2, True)]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = rerun_bench.read([tmp_path])
    assert [row["attempt_id"][-2:] for row in found["attempts"]] == ["r3"]
    assert [p["reason"].split(";")[0] for p in found["problems"]] == [
        "line 1: run_index 3 is none of the 3 runs per task of meta.json",
        "line 2: run_index holds True, not a whole number",
        "line 3: run_index -1 is none of the 3 runs per task of meta.json",
    ]


def test_a_moment_without_a_zone_is_utc(tmp_path, monkeypatch):
    """The same folder gives the same rows in every time zone."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    (tmp_path / "meta.json").write_text(json.dumps(META))
    (tmp_path / "runs.jsonl").write_text(json.dumps(run("a", 0, True, started_at="2026-01-05T09:00:00")))
    (row,) = rerun_bench.read([tmp_path])["attempts"]
    monkeypatch.undo()
    time.tzset()
    assert row["started_at"].isoformat() == "2026-01-05T09:00:00+00:00"


def test_a_run_given_twice_counts_once(tmp_path):
    """A copy of a run folder, a second record of a run, and a task whose id is the same as a name are named."""
    for place, passed in (("one", True), ("two", False)):
        folder = tmp_path / place / META["run_id"]
        folder.mkdir(parents=True)
        (folder / "meta.json").write_text(json.dumps(META | {"tasks": ["a_b", "A_b"]}))
        lines = [run("a_b", 0, True), run("a_b", 1, passed), run("A_b", 2, True), run("A_b", 0, False)]
        (folder / "runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = rerun_bench.read([tmp_path / "one", tmp_path / "two"])
    assert [(row["attempt_id"][-2:], row["outcome"]) for row in found["attempts"]] == [
        ("r1", "green"), ("r2", "green"), ("r3", "green"),
    ]  # fmt: skip
    assert len(found["checks"]) == 3
    assert [p["reason"].split(";")[0] for p in found["problems"]] == [
        "line 4: another record than an earlier line for a_b run 0",
        "line 1: a copy of an earlier line for a_b run 0",
        "line 2: another record than an earlier line for a_b run 1",
        "line 3: a copy of an earlier line for a_b run 2",
        "line 4: another record than an earlier line for a_b run 0",
    ]


def test_a_record_that_cannot_be_is_one_line(tmp_path):
    """A run without its agent is refused by its file's name; a time that ends no calendar is a line left out."""
    (tmp_path / "runs.jsonl").write_text(json.dumps(run("a", 0, True, wall_time_s=1e300)))
    (tmp_path / "meta.json").write_text(json.dumps(META))
    assert [p["reason"][:7] for p in rerun_bench.read([tmp_path])["problems"]] == ["line 1:"]
    (tmp_path / "meta.json").write_text(json.dumps({key: value for key, value in META.items() if key != "agent"}))
    with pytest.raises(UserError, match=r"meta.json: is no record of a rerun-bench run \('agent'\)"):
        rerun_bench.read([tmp_path])
