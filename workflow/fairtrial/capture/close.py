"""The end of an attempt that reserved: its spend is settled and a fault is kept, also where an exception ends it.

An open reservation without a living holder would keep others waiting at the cap, and without a fault neither would a
streak end nor the arm's others be held back.
"""

from __future__ import annotations

import errno
import sys
from contextlib import suppress
from typing import Any

from fairtrial.capture import faults
from fairtrial.capture.execute import Executed
from fairtrial.capture.leased import Run
from fairtrial.capture.prepare import clear
from fairtrial.capture.spend import ledger, retry
from fairtrial.contracts.errors import Fault, UserError
from fairtrial.contracts.protocols import FaultFound

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def close(this: Run, done: Executed, started_at: str) -> float | None:
    """Settle, and keep a fault; a retry-after in seconds."""
    fault = done.ending if isinstance(done.ending, FaultFound) else None
    _settle(this, done, fault)
    if fault is None:
        return None
    asked = retry.retry_after(fault, done.events, done.facts.get("endpoint"))
    _keep_fault(this, done, started_at, asked)
    return asked


def _without_room(this: Run, done: Executed, started_at: str, error: OSError) -> None:
    """The disk is full: a fault. Evidence that cannot be kept stays below scratch/ for the next start to pick up."""
    done.ending = FaultFound("disk", f"{error}: make room, then run again")
    if this.attempt.evidence.exists():
        return  # sealed; the next start publishes and settles it
    if done.report is None:
        clear(this.results, this.token)
    with suppress(OSError):
        close(this, done, started_at)
        clear(this.results, this.token)


def after(this: Run, done: Executed, started_at: str, error: BaseException) -> None:
    """What an exception leaves becomes a fault; with its evidence sealed it is raised: the next start settles that."""
    if isinstance(error, OSError) and error.errno in FULL:
        _without_room(this, done, started_at, error)
        return
    try:
        if this.attempt.evidence.exists():
            raise error
        done.ending = _named(error)
        if this.free or ledger.open_token(this.results, this.settings, this.attempt.id, this.token) is not None:
            _settle(this, done, done.ending)
        _keep_fault(this, done, started_at, None)
    finally:
        clear(this.results, this.token)


def _named(error: BaseException) -> FaultFound:
    """A fault that names what nobody foresaw; where it arose goes to the attempt's log."""
    if isinstance(error, Fault):
        return FaultFound(error.kind, error.message)
    if isinstance(error, UserError):
        return FaultFound("other", str(error))
    if not isinstance(error, Exception):
        return FaultFound("interrupted", "stopped from outside before it ended")
    import traceback

    sys.stderr.write("".join(traceback.format_exception(error)))
    return FaultFound("other", f"{type(error).__name__}: {error}")


def _settle(this: Run, done: Executed, fault: FaultFound | None) -> None:
    if not this.free:
        ledger.settle(
            this.results, this.settings, this.attempt.id, this.token,
            events=_cost(done), fault=fault.kind if fault else None,
        )  # fmt: skip


def _cost(done: Executed) -> dict[str, Any]:
    """The events as far as the ledger wants them; an agent that never started cost nothing."""
    if not done.ran:
        return {"cost_usd": 0.0, "cost_source": None}
    return done.events or {}


def _keep_fault(this: Run, done: Executed, started_at: str, asked: float | None) -> None:
    fault = done.ending
    failed = faults.Failed(
        fault=fault if isinstance(fault, FaultFound) else FaultFound("other", "unknown"),
        recipe_sha256=this.recipe_sha256,
        simulated=done.simulated(this.recipe),
        started_at=started_at,
        evidence=this.results.scratch(this.token) / "evidence",  # moves even when empty: then nothing is left to bury
        report=done.report,
        events=done.events,
        retry_after=asked,
    )
    faults.keep(this.results, this.attempt.id, failed, this.settings)
