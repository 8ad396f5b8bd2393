"""The scheduler's planned looks."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

from fairtrial.plan import pace


def test_only_one_look_is_planned_at_a_time() -> None:
    """However many are asked for, one comes; the next can be planned after it."""
    scheduler = SimpleNamespace(_open_jobs=threading.Semaphore(0), **{pace.PLANS_A_LOOK: None})
    assert pace.steady(scheduler)
    for _ in range(2):
        for _ in range(50):
            getattr(scheduler, pace.PLANS_A_LOOK)(0.05)
        assert scheduler._open_jobs.acquire(timeout=5)
        time.sleep(0.1)
        assert not scheduler._open_jobs.acquire(blocking=False)
    assert not pace.steady(SimpleNamespace())


def test_the_installed_snakemake_plans_its_looks_there() -> None:
    """Otherwise large runs are slow again: the scheduler has the method that is replaced, and its semaphore."""
    from snakemake.scheduling import job_scheduler

    source = job_scheduler.JobScheduler.__init__.__code__.co_names
    assert hasattr(job_scheduler.JobScheduler, pace.PLANS_A_LOOK)
    assert "_open_jobs" in source
