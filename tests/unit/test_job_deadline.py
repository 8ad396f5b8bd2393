"""An agent is not started in a cluster job that would end before it may."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest
from fairtrial.capture import attempt
from fairtrial.capture.spend import deadline, invocation, ledger

from tests import paid


def in_job(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    """From now on this is a SLURM job of which `squeue` says so."""
    program = folder / "bin" / "squeue"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    monkeypatch.setenv("SLURM_JOB_ID", "7")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1-02:03:04", 93_784), ("2:03:04", 7_384), ("7:00", 420), ("0:05", 5), ("UNLIMITED", None), ("NOT_SET", None)],
)
def test_times_as_slurm_writes_them(text: str, expected: float | None) -> None:
    """Days, hours and minutes are left out where they are 0; a word is no time."""
    assert deadline.seconds(text) == expected


@pytest.mark.parametrize(
    ("answer", "left"),
    [("echo 30:00 1:00:00", 1800), ("echo 30:00 5:00", None), ("echo UNLIMITED UNLIMITED", None), ("exit 1", None)],
)
def test_the_latest_start_leaves_room_for_the_wall_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, left: float | None
) -> None:
    """Where SLURM names no end, or the whole job was given less than one budget, nothing is held back."""
    in_job(tmp_path, monkeypatch, answer)
    expected = math.inf if left is None else left - 600 - deadline.ROOM
    assert deadline.latest_start(600.0) - time.monotonic() == pytest.approx(expected, abs=10)


def test_without_a_cluster_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one's own machine an attempt may start at any time."""
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert deadline.latest_start(1e9) == math.inf


def test_an_attempt_that_came_too_late_is_not_run_and_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No agent, no fault, no reservation, with the reason noted; the next job, which has the time, runs it."""
    results, attempt_id = paid.planned(tmp_path, monkeypatch, repetitions=1)
    in_job(tmp_path, monkeypatch, "cat left")
    (tmp_path / "left").write_text("0:50 1:00:00\n")
    assert attempt.run(results, attempt_id, paid.SETTINGS) == 1
    assert invocation.all_not_run(results, paid.SETTINGS.invocation) == {deadline.LATE: 1}
    assert not ledger.starts(results.ledger("default"))
    assert not list(results.fault_records())
    (tmp_path / "left").write_text("50:00 1:00:00\n")
    assert attempt.run(results, attempt_id, paid.SETTINGS) == 0
