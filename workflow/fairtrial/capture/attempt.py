"""The attempt stage: prepare -> run -> seal. It costs money, so it never runs over a seal and never twice at once."""

from __future__ import annotations

import sys
import time

from fairtrial.capture import close, faults, seal
from fairtrial.capture.evidence import evidence_record
from fairtrial.capture.execute import Executed, execute
from fairtrial.capture.leased import Run
from fairtrial.capture.prepare import clear, load_recipe, prepare
from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import dead, deadline, gate, invocation, leases, ledger, preflight, retry, slots
from fairtrial.capture.spend.bound import bound
from fairtrial.contracts.clock import utc_now
from fairtrial.contracts.errors import Fault, UserError
from fairtrial.contracts.plain import counted, plain
from fairtrial.contracts.protocols import FaultFound
from fairtrial.paths import Attempt, AttemptId, Results

ROOM_SECONDS = 600.0  # how long a finished attempt waits for room on a full disk before it is given up
ROOM_POLL = 5.0
DEAD_POLL = 5.0  # how often one that waits at the cap looks whether those it waits for are alive
PAUSE_POLL = 1.0  # how soon a pause before the next try notices a stop


class NotRun(Exception):
    """Not started, for a reason that is no fault: the next run tries it."""


def run(results: Results, attempt_id: AttemptId, settings: Settings) -> int:
    """0 sealed (now or before), 1 a fault or not started; refusals are UserError."""
    attempt = results.attempt(attempt_id)
    if seal.is_sealed(attempt):
        seal.republish(attempt)
        return 0
    try:
        return _start(results, attempt, settings)
    except NotRun as reason:  # a line in its own log, no more: after a stop there may be thousands
        invocation.not_run(results, settings.invocation, [attempt_id], str(reason))
        return _say(f"{attempt_id}: not run: {reason}")


def _start(results: Results, attempt: Attempt, settings: Settings) -> int:
    """Whatever forbids it, then the lease; raises NotRun."""

    def look() -> None:
        _unless(invocation.stopped(results, settings, attempt.id))

    look()  # before anything is read, for the same reason
    recipe, sha256 = load_recipe(results, attempt.id)
    free = settings.is_free(recipe)
    gate.check_one(settings, recipe, str(attempt.id))
    record = leases.identity(str(attempt.id), settings.invocation)
    lease = leases.wait_for(
        attempt.lease,
        record,
        attempt.evidence.exists,
        lambda held: dead.bury(results, attempt.id, held, settings),
        look,
    )
    if lease is None:
        seal.republish(attempt)
        return 0
    with lease:
        seal.refuse_if_paid(attempt, not free and ledger.says_paid(results, attempt.id))
        latest = deadline.latest_start(recipe["budget"]["wall_seconds"])
        return run_leased(Run(results, attempt, settings, recipe, sha256, free, lease, record, latest))


def run_leased(this: Run) -> int:
    """Wait for a slot and the arm's preflight, measure, then seal or keep the fault."""
    with slots.held(this.results, this.settings, this.recipe, this.record, this.stopped) as refused:
        _unless(refused or this.stopped())
        fault = _tries(this) if this.free else _after_preflight(this)
    faults.mark(this.results, this.settings, this.attempt.id, fault)
    if fault is None:
        return 0
    _halt_after_a_streak(this)
    return _say(f"{this.attempt.id}: fault: {fault.kind}: {fault.message}")


def _halt_after_a_streak(this: Run) -> None:
    said = faults.streak(this.results, this.settings, this.attempt.id)
    if said is not None:
        row = f"{counted(this.settings.stop_after, 'attempt')} of this harness and model in a row ended in a fault"
        invocation.halt(this.results, this.settings, this.attempt.id, f"{row}: {said}")


def _after_preflight(this: Run) -> FaultFound | None:
    place = preflight.folder(this.results, this.settings, this.attempt.id, this.recipe)
    patience = retry.patience(this.recipe["budget"]["wall_seconds"], this.settings)
    with preflight.admitted(place, this.record, patience, this.stopped) as refused:
        _unless(refused)
        fault = _tries(this)
        if fault is None:
            preflight.passes(place, this.token)
    return fault


def _unless(reason: str | None) -> None:
    if reason is not None:
        raise NotRun(reason)


def _say(text: str) -> int:
    sys.stderr.write(plain(text) + "\n")
    return 1


def _tries(this: Run) -> FaultFound | None:
    """Measure; after a rate limit or a server's error pause and measure again. The last fault, or None when sealed."""
    tries = 0
    while True:
        tries += 1
        fault, asked = measure(this)
        wait = None if fault is None else retry.pause(fault, asked, tries, this.settings)
        if fault is None or wait is None:
            return fault
        _say(f"{this.attempt.id}: try {tries}: {fault.kind}: {fault.message}; next try in {wait:.0f} s")
        if _stopped_within(this, wait):
            return fault


def _stopped_within(this: Run, seconds: float) -> bool:
    """Pause, unless it is told to stop meanwhile."""
    until = time.monotonic() + seconds
    while (rest := until - time.monotonic()) > 0:
        if this.stopped() is not None:
            return True
        time.sleep(min(rest, PAUSE_POLL))
    return this.stopped() is not None


def measure(this: Run) -> tuple[FaultFound | None, float | None]:
    """Run the agent once. (None, None) when the evidence is sealed, else the fault and a retry-after in seconds."""
    started_at, done = utc_now(), Executed()
    _reserve(this)
    asked: float | None = None
    try:
        _execute(this, done)
        if not isinstance(done.ending, FaultFound):
            _seal(this, done, started_at)
        asked = close.close(this, done, started_at)
    except BaseException as error:
        close.after(this, done, started_at, error)
        if not isinstance(error, Exception):
            raise
    else:
        clear(this.results, this.token)
    return (done.ending if isinstance(done.ending, FaultFound) else None), asked


def _reserve(this: Run) -> None:
    if this.free:
        return
    usd = bound(this.settings, this.recipe)
    looked = float("-inf")

    def waiting() -> str | None:
        """A reservation whose holder was killed would be waited for forever: it is settled, its attempt a fault."""
        nonlocal looked
        if time.monotonic() - looked > DEAD_POLL:
            dead.sweep(this.results, this.settings)
            looked = time.monotonic()
        return this.stopped()

    refused = ledger.reserve(this.results, this.settings, this.attempt.id, this.token, usd, waiting=waiting)
    if refused is not None and ledger.can_never_fit(this.results, this.settings, usd):
        refused = invocation.halt(this.results, this.settings, this.attempt.id, refused)
    _unless(refused)


def _execute(this: Run, done: Executed) -> None:
    """Prepare and run; what forbids it here, though the plan was allowed, is a fault like any other."""
    try:
        dead.note(this.results, this.record)
        done.prepared = prepare(
            this.results, this.attempt.id, this.recipe, this.settings, token=this.token, boxed=done.boxed(this.recipe)
        )
        execute(done, this.settings, this.results)
    except Fault as found:
        done.ending = FaultFound(found.kind, found.message)
    except UserError as error:
        done.ending = FaultFound("spawn", str(error))


def _seal(this: Run, done: Executed, started_at: str) -> None:
    """Sealed first, settled after it: a seal tells its cost to the next start, a settlement alone tells nothing."""
    evidence = evidence_record(this.attempt.id, this.recipe_sha256, done, this.settings.invocation, started_at)
    evidence["earlier_faults"] = faults.earlier(this.results, this.attempt.id)
    evidence["redone"] = redone_reason(this.results, this.attempt.id)
    deadline = time.monotonic() + ROOM_SECONDS
    while True:
        if not this.lease.still_ours():
            done.ending = FaultFound("interrupted", "another process took this attempt over; nothing was sealed here")
            return
        try:
            seal.write_seal(done.folder, this.attempt, evidence)
            return
        except OSError as error:
            if error.errno not in close.FULL or time.monotonic() > deadline:
                raise
            _say(f"{this.attempt.id}: finished, but the disk is full; waiting for room to seal it")
            time.sleep(ROOM_POLL)


def redone_reason(results: Results, attempt_id: AttemptId) -> str | None:
    """Why an earlier seal of this attempt was set aside, if one was."""
    from fairtrial.contracts.records import load

    records = sorted(results.redone(attempt_id).glob("*/redo.json"))
    return str(load(records[-1])["reason"]) if records else None
