"""Tables from results: one row per planned attempt, fixed types, equal bytes, and bad records named but never fatal."""

from __future__ import annotations

import json
import shutil

import pyarrow.parquet as pq
import pytest
from fairtrial.analysis import dataset, dataset_shards, dataset_tables
from fairtrial.contracts.records import file_digest
from fairtrial.contracts.schema import problems as schema_problems

from tests import fabricate

PRICES = {"m-large": {"input": 3.0, "cache_read": 0.3, "cache_write": 3.75, "output": 15.0, "date": "2026-01-01"}}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A tree where everything happens: faults, attempts not run, excluded, unscored and redone ones."""
    root = tmp_path_factory.mktemp("made") / "results"
    settings = fabricate.Settings(faults=0.05, missing=0.05, excluded=0.05, unscored=0.03, redone=0.05)
    return root, fabricate.tree(root, tasks=6, repetitions=4, settings=settings)


@pytest.fixture
def small(tmp_path):
    """Twelve plain attempts of two arms, free to be damaged."""
    root = tmp_path / "results"
    return root, fabricate.tree(root, tasks=3, repetitions=2, arms=fabricate.ARMS_3X2[:2])


def rows_of(out, table="attempts"):
    """The rows of one written table."""
    return pq.read_table(out / f"{table}.parquet").to_pylist()


def result_of(root, number=0):
    """The path of some result.json."""
    return sorted(root.glob("attempts/*/*/*/*/*/r*/grades/*/result.json"))[number]


def named(out):
    """path -> reason of problems.json."""
    found = json.loads((out / "problems.json").read_bytes())["problems"]
    return {line["path"]: line["reason"] for line in found}


def test_every_fabricated_record_is_valid(made):
    """What the tests rest on obeys the schemas."""
    root, matrix = made
    assert schema_problems(matrix, "matrix") == []
    attempt = "*/*/*/*/*/r*"
    patterns = {
        "evidence": f"attempts/{attempt}/evidence.json",
        "result": f"attempts/{attempt}/grades/*/result.json",
        "events": f"attempts/{attempt}/grades/*/agent-events.json",
        "exclude": f"attempts/{attempt}/exclude.json",
        "fault": f"faults/{attempt}/*/fault.json",
        "redo": f"redone/{attempt}/*/redo.json",
    }
    for name, pattern in patterns.items():
        paths = sorted(root.glob(pattern))
        assert paths, name
        for path in paths[:4]:
            assert schema_problems(json.loads(path.read_bytes()), name) == []


def test_one_row_per_planned_attempt_whatever_became_of_it(made, tmp_path):
    """The matrix is the denominator: each planned attempt is a row with the status that it has on disk."""
    root, matrix = made
    counts = dataset.build(root, matrix, tmp_path)
    rows = rows_of(tmp_path)
    assert len(rows) == counts["planned"] == 6 * 6 * 4
    assert {row["status"] for row in rows} == {"done", "fault", "not_run", "excluded"}
    for row in rows:
        if row["status"] in ("not_run", "fault"):
            assert row["started_at"] is row["outcome"] is row["cost_usd"] is row["turns"] is None
        if row["status"] == "excluded":
            assert row["excluded"] == "the office network was down"
            assert row["scored"] is False
    assert any(row["redone"] == "wrong account" for row in rows)
    assert {row["redone_cost_usd"] for row in rows} == {None, 0.1}
    assert all((row["redone"] is None) is (row["redone_cost_usd"] is None) for row in rows)
    assert {row["attempt_id"] for row in rows_of(tmp_path, "faults")} == {
        row["attempt_id"] for row in rows if row["status"] == "fault"
    }


def test_schemas_are_those_of_the_table_schemas(made, tmp_path):
    """Columns, types, units and volatility come from schemas/tables and from nowhere else."""
    root, matrix = made
    dataset.build(root, matrix, tmp_path)
    for table in dataset_tables.TABLES:
        written = pq.read_schema(tmp_path / f"{table}.parquet")
        assert written.equals(dataset_tables.arrow_schema(table), check_metadata=True)
    field = pq.read_schema(tmp_path / "attempts.parquet").field("cost_usd")
    assert field.metadata[b"unit"] == b"usd"
    assert str(pq.read_schema(tmp_path / "attempts.parquet").field("started_at").type) == "timestamp[us, tz=UTC]"


def test_an_empty_experiment_has_the_same_types(tmp_path):
    """An all-null column changes no type."""
    root = tmp_path / "results"
    settings = fabricate.Settings(missing=1.0)
    matrix = fabricate.tree(root, tasks=1, repetitions=1, arms=fabricate.ARMS_3X2[:1], settings=settings)
    assert dataset.build(root, matrix, tmp_path / "out")["not_run"] == 1
    for table in dataset_tables.TABLES:
        path = tmp_path / "out" / f"{table}.parquet"
        assert pq.read_schema(path).equals(dataset_tables.arrow_schema(table), check_metadata=True)


def test_equal_input_gives_equal_bytes_with_and_without_the_cache(made, tmp_path):
    """The shards never decide a byte."""
    root, matrix = made
    names = [f"{table}.parquet" for table in dataset_tables.TABLES]
    names += ["time-to-green.csv", "datapackage.json", "problems.json"]
    dataset.build(root, matrix, tmp_path / "a")
    dataset.build(root, matrix, tmp_path / "a")
    turned = {**matrix, "cells": list(reversed(matrix["cells"]))}
    dataset.build(root, turned, tmp_path / "b")
    for name in names:
        assert file_digest(tmp_path / "a" / name) == file_digest(tmp_path / "b" / name), name


def test_one_new_attempt_rereads_one_attempt(small, tmp_path, monkeypatch):
    """A merge after one more result opens that result only."""
    root, matrix = small
    path = result_of(root, 3)
    content = path.read_bytes()
    path.unlink()
    dataset.build(root, matrix, tmp_path)
    path.write_bytes(content)
    opened = []
    real = dataset_shards.read
    monkeypatch.setattr(dataset_shards, "read", lambda planned, into: (opened.append(planned.id), real(planned, into)))
    dataset.build(root, matrix, tmp_path)
    assert opened == ["/".join(path.parts[-9:-3])]
    fresh = tmp_path / "fresh"
    dataset.build(root, matrix, fresh)
    assert file_digest(tmp_path / "attempts.parquet") == file_digest(fresh / "attempts.parquet")
    assert file_digest(tmp_path / "commands.parquet") == file_digest(fresh / "commands.parquet")


BAD = {
    "empty": (lambda text: b"", "is empty"),
    "null": (lambda text: b"null\n", "holds null, not an object"),
    "torn": (lambda text: text[:200], "is not whole JSON"),
    "a list": (lambda text: b"[1]", "not an object"),
    "NaN": (lambda text: text.replace(b'"agent_seconds":', b'"agent_seconds":NaN,"x":', 1), "is not whole JSON"),
    "a text in a number": (lambda text: edit(text, cost="0.25"), "performance.time_cost.cost_usd holds"),
    "a later schema": (lambda text: edit(text, schema_version=9), "schema_version is 9"),
    "another recipe": (lambda text: edit(text, recipe_sha256="0" * 64), "is not in the matrix"),
    "another grade": (lambda text: edit(text, grade_sha256="0" * 64), "is not in the matrix"),
    "another attempt": (lambda text: edit(text, attempt_id="a/b/c/d/e/r1"), "is the record of another attempt"),
    "other evidence": (lambda text: edit(text, evidence_sha256="0" * 64), "other evidence"),
    "another harness": (lambda text: edit(text, harness="zebra"), "harness is 'zebra'"),
    "an unknown outcome": (lambda text: edit(text, outcome="fine"), "outcome is"),
    "green without a time": (lambda text: edit(text, outcome="green", green_at=None), "green_at"),
}


def edit(text, cost=None, **values):
    """result.json with some top-level values replaced, or its cost."""
    record = json.loads(text) | values
    if cost is not None:
        record["performance"]["time_cost"]["cost_usd"] = cost
    return json.dumps(record).encode()


@pytest.mark.parametrize("name", BAD)
def test_a_bad_record_is_named_and_left_out(small, tmp_path, name):
    """Half-written, foreign and wrong-type records are in problems.json with path and reason; the others are rows."""
    root, matrix = small
    change, reason = BAD[name]
    path = result_of(root)
    path.write_bytes(change(path.read_bytes()))
    out = tmp_path / "out"
    counts = dataset.build(root, matrix, out)
    where = path.relative_to(root).as_posix()
    assert reason in named(out)[where]
    assert counts == {"planned": 12, "done": 11, "problem": 1, "problems": 1}
    row = next(row for row in rows_of(out) if row["status"] == "problem")
    assert row["outcome"] is row["cost_usd"] is None


def test_a_missing_seal_makes_no_result(small, tmp_path):
    """A result beside no seal is no result."""
    root, matrix = small
    (result_of(root).parents[2] / "sealed").unlink()
    dataset.build(root, matrix, tmp_path / "out")
    assert "no seal" in next(iter(named(tmp_path / "out").values()))


def test_whole_numbers_may_be_written_as_floats_and_nulls_stay_null(small, tmp_path):
    """`turns: 3.0` is the integer 3, an unknown cost stays null, and neither changes the column's type."""
    root, matrix = small
    path = result_of(root)
    record = json.loads(path.read_bytes())
    record["performance"]["time_cost"] |= {"turns": 3.0, "cost_usd": None, "cost_source": None, "agent_seconds": 9}
    path.write_text(json.dumps(record))
    dataset.build(root, matrix, tmp_path / "out")
    row = rows_of(tmp_path / "out")[0]
    assert (row["turns"], row["cost_usd"]) == (3, None)
    assert isinstance(row["agent_seconds"], float)


def test_torn_lines_of_a_trace_cost_only_themselves(small, tmp_path):
    """The command trace of a killed machine ends in half a line: the others are rows, the line is named."""
    root, matrix = small
    trace = result_of(root).parents[2] / "trace.jsonl"
    lines = trace.read_bytes().splitlines()
    trace.write_bytes(b"\n".join([lines[0], lines[1][:30] + lines[2], b"", b"7", lines[3][:9]]))
    dataset.build(root, matrix, tmp_path / "out")
    reasons = json.loads((tmp_path / "out" / "problems.json").read_bytes())["problems"]
    assert [line["reason"].split(" ")[1] for line in reasons] == ["2", "4", "5"]
    key = reasons[0]["attempt_id"]
    assert sum(row["attempt_id"] == key for row in rows_of(tmp_path / "out", "commands")) == 1
    assert {row["status"] for row in rows_of(tmp_path / "out")} == {"done"}


def test_lone_surrogates_in_an_argument_stay_text(small, tmp_path):
    """Bytes that are no UTF-8 are surrogate escapes in the trace and reach the table as JSON text."""
    root, matrix = small
    trace = result_of(root).parents[2] / "trace.jsonl"
    trace.write_bytes(trace.read_bytes().replace(b'"status"', b'"\\udcff"'))
    dataset.build(root, matrix, tmp_path / "out")
    rows = rows_of(tmp_path / "out", "commands")
    assert ["git", "\udcff"] in [json.loads(row["argv"]) for row in rows]
    assert named(tmp_path / "out") == {}


def test_commands_carry_the_grades_buckets(small, tmp_path):
    """Bucket and version-control class come from trace-buckets.json, by span."""
    root, matrix = small
    dataset.build(root, matrix, tmp_path / "out")
    first = rows_of(tmp_path / "out", "commands")[:4]
    assert [row["bucket"] for row in first] == ["task", "task", "task", "platform"]
    assert [row["vc"] for row in first] == ["read", "mutation", None, "read"]
    assert len(rows_of(tmp_path / "out", "tool_calls")) == 36


def test_a_price_table_fills_unknown_costs_only(tmp_path):
    """Tokens x prices stands where neither CLI nor endpoint said a cost, and never where tokens are a lower bound."""
    root = tmp_path / "results"
    arm = fabricate.Arm("alder", "m-large", usd=None)
    matrix = fabricate.tree(root, tasks=3, repetitions=4, arms=(arm,))
    dataset.build(root, matrix, tmp_path / "out", PRICES)
    rows = rows_of(tmp_path / "out")
    for row in rows:
        assert (row["cost_usd"] is None) == bool(row["tokens_lower_bound"])
        assert row["cost_source"] == (None if row["tokens_lower_bound"] else "price_table")
    known = next(row for row in rows if row["cost_usd"] is not None)
    wanted = (known["input_uncached_tokens"] * 3 + known["cache_read_tokens"] * 0.3
              + known["cache_write_tokens"] * 3.75 + known["output_tokens"] * 15) / 1e6  # fmt: skip
    assert known["cost_usd"] == pytest.approx(wanted)
    path = root.joinpath("attempts", *known["attempt_id"].split("/"), "requests.jsonl")
    counts = {"input_uncached": 700, "cache_read": 200, "cache_write": 100, "output": 5}
    path.write_text("".join(json.dumps({"order": n, "status": 200, "tokens": counts}) + "\n" for n in range(3)))
    for limit, cost in ((1000, known["cost_usd"]), (999, None)):  # a price holds up to a size of one request
        dataset.build(root, matrix, tmp_path / "again", {"m-large": {**PRICES["m-large"], "up_to": limit}})
        again = {row["attempt_id"]: row["cost_usd"] for row in rows_of(tmp_path / "again")}
        assert again[known["attempt_id"]] == cost


def test_a_correction_keeps_the_raw_verdict(small, tmp_path):
    """raw_verdict is that of the uncorrected grade beside a corrected one."""
    root, matrix = small
    path = result_of(root)
    record = json.loads(path.read_bytes())
    raw = path.parents[1] / "0123456789ab" / "result.json"
    raw.parent.mkdir()
    record["performance"]["correctness"]["verdict"] = "failed"
    raw.write_text(json.dumps(record))
    record["performance"]["correctness"] |= {"verdict": "passed", "corrected": True}
    path.write_text(json.dumps(record))
    dataset.build(root, matrix, tmp_path / "out")
    row = rows_of(tmp_path / "out")[0]
    assert (row["verdict"], row["raw_verdict"], row["corrected"]) == ("passed", "failed", True)


def test_a_foreign_fault_record_is_named(made, tmp_path):
    """A torn fault.json is a problem, not a row and not the end."""
    root, matrix = made
    copy = tmp_path / "results"
    shutil.copytree(root, copy)
    path = sorted(copy.glob("faults/*/*/*/*/*/r*/*/fault.json"))[0]
    path.write_text('{"kind": "quota"')
    dataset.build(copy, matrix, tmp_path / "out")
    assert "no record of a fault" in named(tmp_path / "out")[path.relative_to(copy).as_posix()]
