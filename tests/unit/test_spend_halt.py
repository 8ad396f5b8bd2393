"""Which jobs are taken out of Snakemake's queue, and that nothing is where its inside is another one."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import halt, invocation
from fairtrial.contracts.records import dump
from fairtrial.paths import AttemptId, Results


def one(harness: str, repetition: int) -> AttemptId:
    """An attempt."""
    return AttemptId("s", "t", harness, "m", "0" * 12, repetition)


class Job(SimpleNamespace):
    """One of Snakemake's jobs, as far as it is looked at; equal by identity."""

    __hash__ = object.__hash__
    __eq__ = object.__eq__


def job(rule: str, attempt_id: AttemptId) -> Job:
    """A job of one rule for one attempt."""
    output = [f"results/attempts/{attempt_id}/sealed"]
    return Job(rule=SimpleNamespace(name=rule), output=output, is_group=lambda: False)


def group(*jobs: Job) -> Job:
    """Several in one cluster submission."""
    return Job(jobs=list(jobs), is_group=lambda: True)


class Scheduler:
    """What halt.py knows of Snakemake's."""

    def __init__(self, *ready: Any) -> None:
        self._lock, self._open_jobs, self._errors = threading.Lock(), threading.Semaphore(0), False
        self.failed: set[Any] = set()
        self.workflow = SimpleNamespace(dag=SimpleNamespace(_ready_jobs=set(ready)))

    def exit_gracefully(self, *_: object) -> None:
        """Its handler of SIGTERM."""


def test_only_the_attempts_of_what_is_halted_are_taken_out(tmp_path: Path) -> None:
    """Grades, other pairs, sealed attempts and a cluster job that still has one to run stay."""
    results = Results(tmp_path)
    sealed = one("h", 3)
    dump(results.attempt(sealed).evidence, {})
    gone = [job("attempt", one("h", 1)), group(job("attempt", one("h", 2)), job("grade", one("h", 2)))]
    mixed = group(job("attempt", one("h", 4)), job("attempt", one("g", 4)))
    kept = [job("attempt", one("g", 1)), job("grade", one("h", 5)), job("attempt", sealed), mixed]
    scheduler = Scheduler(*gone, *kept)
    invocation.halt(results, Settings(invocation="i"), one("h", 1), "no credit")
    out = halt.take_out(scheduler, invocation.halted(results, "i"), results)
    assert {reason: sorted(map(str, ids)) for reason, ids in out.items()} == {
        "no credit": [str(one("h", 1)), str(one("h", 2))]
    }
    assert scheduler.failed == set(gone)
    assert scheduler.workflow.dag._ready_jobs == set(kept)
    assert scheduler._errors
    assert scheduler._open_jobs.acquire(blocking=False), "it is woken: there may be nothing left to wait for"


def test_nothing_halted_changes_nothing(tmp_path: Path) -> None:
    """No error, no wake-up."""
    scheduler = Scheduler(job("attempt", one("h", 1)))
    assert halt.take_out(scheduler, invocation.halted(Results(tmp_path), "i"), Results(tmp_path)) == {}
    assert (scheduler.failed, scheduler._errors) == (set(), False)
    assert not scheduler._open_jobs.acquire(blocking=False)


@pytest.mark.parametrize("known", [True, False])
def test_the_scheduler_is_what_handles_sigterm_if_it_is_a_known_one(known: bool) -> None:
    """Outside of Snakemake, and where its attributes have other names, there is none."""
    scheduler = Scheduler()
    if not known:
        del scheduler.failed
    before = signal.signal(signal.SIGTERM, scheduler.exit_gracefully)
    try:
        assert halt.scheduler() is (scheduler if known else None)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert halt.scheduler() is None
