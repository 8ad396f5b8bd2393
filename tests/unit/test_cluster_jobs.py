"""Several attempts in one cluster job: what stays when it fails, who was not asked, whose they are after a kill."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fairtrial.capture.spend import invocation, live
from fairtrial.capture.spend.leases import identity
from fairtrial.contracts.records import dump
from fairtrial.paths import AttemptId, Results
from fairtrial.plan import keep


def one(harness: str, repetition: int) -> AttemptId:
    """An attempt."""
    return AttemptId("s", "t", harness, "m", "0" * 12, repetition)


def test_outputs_of_attempts_and_grades_outlive_their_failed_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snakemake deletes what a failed stage command has left, but no seal and no result."""
    from snakemake.jobs import Job

    deleted = []

    async def cleanup(job: Any, skip_outputs: Any) -> None:
        deleted.append((job.rule.name, skip_outputs))

    monkeypatch.setattr(Job, "cleanup", cleanup)
    assert keep.whole_outputs()
    for rule in ("plan", "attempt", "grade", "dataset", "report"):
        asyncio.run(Job.cleanup(SimpleNamespace(rule=SimpleNamespace(name=rule)), {"kept"}))
    assert deleted == [(rule, {"kept"}) for rule in ("plan", "dataset", "report")]


def test_another_snakemake_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its jobs delete in another way nothing is replaced."""
    from snakemake.jobs import Job

    def other(job: Any) -> None:
        """No coroutine."""

    monkeypatch.setattr(Job, "cleanup", other)
    assert not keep.whole_outputs()
    assert Job.cleanup is other


def test_what_stood_behind_a_refused_attempt_is_noted_once(tmp_path: Path) -> None:
    """Of a stopped pair: not the sealed, not the faulted, none twice, and no other pair's."""
    results = Results(tmp_path)
    dump(results.invocation("i") / "halted" / "h--m.json", {"harness": "h", "model": "m", "reason": "enough"})
    dump(results.attempt(one("h", 1)).evidence, {})
    invocation.not_run(results, "i", [one("h", 3)], "enough")
    planned = [str(one(harness, repetition)) for harness in "hg" for repetition in range(1, 7)]
    for _ in range(2):
        invocation.note_unreached(results, "i", planned, {str(one("h", 2))})
        assert invocation.all_not_run(results, "i") == {"enough": 4}
    invocation.note_unreached(results, "without-flags", planned, set())
    assert invocation.all_not_run(results, "without-flags") == {}


def test_a_run_that_goes_on_stops_the_jobs_of_a_killed_one(tmp_path: Path) -> None:
    """Taking over an experiment whose Snakemake is dead sets the stop flag of that start, and no other one's."""
    results = Results(tmp_path)
    killed = {**identity("experiment e", "killed"), "pid": 2**22 + 1, "pid_started": "1"}
    dump(results.experiment("e").folder / ".running.json", killed)
    live._lock(results, "e", "own")
    try:
        said = invocation.stop_reason(results, "killed")
        assert said is not None
        assert f"process {2**22 + 1} on {killed['host']}) is gone, another run goes on with it" in said
        assert invocation.stop_reason(results, "own") is None
    finally:
        live._release()
