"""The fourteen-column CSV: cells a spreadsheet may not run, times that agree, and its data package."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from fairtrial.analysis import dataset, dataset_csv
from hypothesis import given
from hypothesis import strategies as st

from tests import fabricate

HOSTILE = [json.loads(line)["title"] for line in
           (Path(__file__).parents[1] / "data" / "hostile" / "texts.jsonl").read_text().splitlines()]  # fmt: skip
STARTED = datetime(2026, 1, 5, 9, 12, 0, 123000, tzinfo=UTC)
ROW = {
    "task": "stats-json", "label": "T01", "title": "Add --json", "check": "python3 -m unittest", "harness": "alder",
    "harness_version": "2.1.0", "model": "m-large", "model_observed": "vendor/m-large", "model_configured": None,
    "started_at": STARTED, "seconds_to_green": 12.5, "turns": 3, "tool_calls": 7, "cost_usd": 0.125, "outcome": "green",
    "status": "done", "check_passed": True, "agent_seconds": 12.5, "api_seconds": 1.25, "scored": True,
    "green_exit": "0", "notes": "[]", "degraded": "[]",
}  # fmt: skip


def cells(**values):
    """One row as column -> cell."""
    return dict(zip(dataset_csv.FIELDS, dataset_csv.csv_row(ROW | values), strict=True))


def test_the_columns_are_the_fourteen():
    """Names and order are fixed."""
    assert ",".join(dataset_csv.FIELDS) == (
        "task_id,task,green_command,harness,harness_version,model,started_at,green_at,seconds_to_green,turns,"
        "tool_calls,cost_usd,outcome,notes"
    )


def test_a_green_row():
    """UTC with milliseconds, plain numbers, and notes that begin with the three pairs."""
    row = cells()
    assert row["started_at"] == "2026-01-05T09:12:00.123Z"
    assert row["green_at"] == "2026-01-05T09:12:12.623Z"
    assert (row["seconds_to_green"], row["cost_usd"], row["turns"]) == ("12.5", "0.125", "3")
    assert row["notes"] == "agent_elapsed_s=12.5; green_exit=0; api_ms=1250"


@pytest.mark.parametrize(
    ("outcome", "passed", "cell"),
    [("timeout", True, "timeout+green"), ("timeout", False, "timeout"), ("timeout", None, "timeout+unknown"),
     ("agent_error", True, "agent_error+green"), ("red", False, "red"), ("green", True, "green"), (None, None, "")],
)  # fmt: skip
def test_outcome_cells_say_what_the_verifier_found(outcome, passed, cell):
    """An attempt cut short still says whether its files are right."""
    row = cells(outcome=outcome, check_passed=passed)
    assert row["outcome"] == cell
    assert bool(row["green_at"]) == bool(row["seconds_to_green"]) == (cell == "green")


@pytest.mark.parametrize("status", ["not_run", "fault", "excluded", "problem"])
def test_attempts_without_a_counting_result_have_empty_measurements(status):
    """Planned rows stay rows; only identity and notes are filled."""
    row = cells(status=status, excluded="no network", fault="quota: weekly limit")
    measured = ("started_at", "green_at", "seconds_to_green", "turns", "tool_calls", "cost_usd", "outcome")
    assert [row[name] for name in measured] == [""] * 7
    assert row["notes"].startswith(status)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_and_rows_stay_rows(text):
    """Formulas get one apostrophe, other texts are as they were, and parsing gives back one row."""
    line = dataset_csv.csv_line(dataset_csv.csv_row(ROW | {"title": text, "notes": json.dumps([text])}))
    rows = list(csv.reader(io.StringIO(line, newline="")))
    assert len(rows) == 1
    formula = text.lstrip(" \t\r\n")[:1] in ("=", "+", "-", "@", "\uff1d") or text[0] in "\t\r\n"
    assert rows[0][1] == ("'" + text if formula else text)


def test_numbers_are_never_defused():
    """A negative number stays a number."""
    assert cells(cost_usd=-0.5)["cost_usd"] == "-0.5"


@given(st.floats(min_value=0, max_value=1e7, allow_nan=False))
def test_numbers_are_plain_decimals(value):
    """No exponent, no trailing zero, and within half a millionth."""
    text = dataset_csv.number(value)
    assert "e" not in text
    assert text == "0" or text.rstrip("0.") == text or "." not in text
    assert abs(float(text) - value) <= 5.1e-7 + value * 1e-12


@given(st.text())
def test_no_cell_begins_like_a_formula(text):
    """Whatever the text, no cell begins with a character that a spreadsheet runs."""
    assert dataset_csv.defuse(text).lstrip()[:1] not in tuple("=+-@\uff1d\uff0b\uff0d\uff20")


def test_the_file_and_its_data_package_agree(tmp_path):
    """UTF-8, LF, one row per planned attempt; bytes and digest in datapackage.json are those of the file."""
    root = tmp_path / "results"
    settings = fabricate.Settings(missing=0.1, faults=0.1, titles={"fix-failing-test": HOSTILE[0]})
    matrix = fabricate.tree(root, tasks=3, repetitions=3, settings=settings)
    dataset.build(root, matrix, tmp_path / "out")
    content = (tmp_path / "out" / "time-to-green.csv").read_bytes()
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline="")))
    assert b"\r" not in content
    assert len(rows) == 54
    assert {row["task"] for row in rows} > {"'" + HOSTILE[0]}
    resource = json.loads((tmp_path / "out" / "datapackage.json").read_bytes())["resources"][0]
    assert resource["bytes"] == len(content)
    assert resource["hash"] == "sha256:" + hashlib.sha256(content).hexdigest()
    assert [field["name"] for field in resource["schema"]["fields"]] == list(rows[0])
    for row in rows:
        green = row["outcome"] == "green"
        assert green == bool(row["green_at"]) == bool(row["seconds_to_green"])
        if green:
            took = datetime.fromisoformat(row["green_at"]) - datetime.fromisoformat(row["started_at"])
            assert took.total_seconds() == pytest.approx(float(row["seconds_to_green"]), abs=1e-9)


def test_parquet_keeps_the_exact_text(tmp_path):
    """Only the CSV defuses: the table holds what was said."""
    root = tmp_path / "results"
    settings = fabricate.Settings(extra_notes=tuple(HOSTILE))
    matrix = fabricate.tree(root, tasks=1, repetitions=1, arms=fabricate.ARMS_3X2[:1], settings=settings)
    dataset.build(root, matrix, tmp_path / "out")
    row = pq.read_table(tmp_path / "out" / "attempts.parquet").to_pylist()[0]
    assert json.loads(row["notes"]) == HOSTILE
