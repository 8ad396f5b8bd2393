"""Attempts that will not start are taken out of Snakemake's queue, in place of starting each to find that out.

Snakemake has no word for it, so this is the one place that touches the inside of its scheduler: under the
scheduler's own lock a ready job is counted as failed, which is what it would become. Grades and other pairs go on,
and the run ends as after any failed job. Where the inside is not as it is known here nothing is taken out: each
attempt looks at the same flags before it starts.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any

from fairtrial.capture.spend import invocation
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.plain import counted, plain
from fairtrial.paths import AttemptId, Results

POLL_SECONDS = 0.2
Why = Callable[[AttemptId], str | None]


def scheduler() -> Any | None:
    """Snakemake's scheduler: what it lets handle SIGTERM. None outside of it, or when that changed."""
    found = getattr(signal.getsignal(signal.SIGTERM), "__self__", None)
    known = ("_lock", "_open_jobs", "failed", "_errors", "workflow")
    return found if all(hasattr(found, name) for name in known) else None


def take_out(found: Any, why: Why, results: Results) -> dict[str, list[AttemptId]]:
    """Reason -> attempts that were ready to start and now count as failed."""
    out: dict[str, list[AttemptId]] = {}
    with found._lock:
        ready = found.workflow.dag._ready_jobs
        for job in list(ready):
            halted = _halted(job, why, results)
            if halted:
                ready.discard(job)
                found.failed.add(job)
                found._errors = True
                for attempt_id, reason in halted.items():
                    out.setdefault(reason, []).append(attempt_id)
    if out:
        found._open_jobs.release()  # it may have nothing left to wait for
    return out


def _halted(job: Any, why: Why, results: Results) -> dict[AttemptId, str]:
    """The attempts of a job (a cluster job may hold several) with the reason, when none of them will start."""
    found = {}
    for attempt_id in _attempts(job):
        reason = why(attempt_id)
        if reason is None or results.attempt(attempt_id).evidence.exists():
            return {}
        found[attempt_id] = reason
    return found


def _attempts(job: Any) -> Iterable[AttemptId]:
    """The attempts that a job starts."""
    for each in job.jobs if job.is_group() else [job]:
        if each.rule.name == "attempt":
            yield AttemptId.parse(str(each.output[0]))


class Watch:
    """Looks at the flags of one invocation now and then while Snakemake runs; says what it took out."""

    def __init__(self, results: Results, own: str) -> None:
        self._results = results
        self._own = own
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="halt", daemon=True)

    def start(self) -> Watch:
        """Begin."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """No further look."""
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(POLL_SECONDS):
            try:
                self._look()
            except OSError:
                continue  # a disk that is full or stumbles; the next look may reach it
            except (AttributeError, TypeError, UserError):
                return  # another Snakemake than the known ones

    def _look(self) -> None:
        found = scheduler()
        if found is None:
            return
        out = take_out(found, invocation.halted(self._results, self._own), self._results)
        for reason, attempts in sorted(out.items()):
            sys.stderr.write(f"fairtrial: {counted(len(attempts), 'attempt')} will not start: {plain(reason)}\n")
            sys.stderr.flush()
            invocation.not_run(self._results, self._own, attempts, reason)
