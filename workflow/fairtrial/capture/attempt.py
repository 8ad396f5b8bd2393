"""The attempt stage: prepare -> run -> seal. It costs money, so it never runs over a seal and never twice at once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairtrial.capture import faults, seal
from fairtrial.capture.evidence import evidence_record
from fairtrial.capture.execute import Executed, execute
from fairtrial.capture.prepare import clear, load_recipe, prepare
from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import gate, leases, ledger, preflight
from fairtrial.contracts.clock import utc_now
from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import FaultFound
from fairtrial.paths import Attempt, AttemptId, Results


@dataclass(slots=True)
class Run:
    """One attempt that may start: what it is, and who holds its lease."""

    results: Results
    attempt: Attempt
    settings: Settings
    recipe: dict[str, Any]
    recipe_sha256: str
    free: bool
    token: str


def run(results: Results, attempt_id: AttemptId, settings: Settings) -> int:
    """0 sealed (now or before), 1 a fault or stopped; refusals are UserError."""
    attempt = results.attempt(attempt_id)
    if seal.is_sealed(attempt):
        seal.republish(attempt)
        return 0
    recipe, sha256 = load_recipe(results, attempt_id)
    free = settings.is_free(recipe)
    gate.check_one(settings, recipe, str(attempt_id))
    seal.refuse_if_paid(attempt, not free and ledger.says_paid(results, attempt_id))
    record = leases.identity(str(attempt_id), settings.invocation)
    lease = leases.wait_for(
        attempt.lease,
        record,
        attempt.evidence.exists,
        lambda dead: clear(results, str(dead.get("token", "-"))),
    )
    if lease is None:
        seal.republish(attempt)
        return 0
    with lease:
        return run_leased(Run(results, attempt, settings, recipe, sha256, free, lease.token), record, lease)


def run_leased(this: Run, record: dict[str, Any], lease: leases.Lease) -> int:
    """Wait for the arm's preflight, measure, then seal or keep the fault."""
    stopped = faults.streak(this.results, this.settings, this.attempt.id)
    place = preflight.folder(this.results, this.settings, this.attempt.id, this.recipe)
    if stopped is None and not this.free:
        wall = this.recipe["budget"]["wall_seconds"]
        stopped = preflight.enter(
            place, record, wall, lambda: faults.streak(this.results, this.settings, this.attempt.id)
        )
    if stopped is not None:
        return _say(f"{this.attempt.id}: not started: {stopped}\nthe same snakemake command tries it again")
    fault: FaultFound | None = None
    try:
        fault = measure(this, lease)
    finally:
        clear(this.results, this.token)
        if not this.free:
            preflight.leave(place, this.token, ok=fault is None and this.attempt.evidence.exists())
    faults.mark(this.results, this.settings, this.attempt.id, fault)
    return 0 if fault is None else _say(f"{this.attempt.id}: fault: {fault.kind}: {fault.message}")


def _say(text: str) -> int:
    sys.stderr.write(text + "\n")
    return 1


def measure(this: Run, lease: leases.Lease) -> FaultFound | None:
    """Run the agent once; None when the evidence is sealed."""
    started_at = utc_now()
    if not this.free:
        ledger.reserve(this.results, this.settings, this.attempt.id, this.token, this.settings.per_attempt_usd)
    done = Executed()
    try:
        done.prepared = prepare(
            this.results, this.attempt.id, this.recipe, this.settings, token=this.token, boxed=done.boxed(this.recipe)
        )
        execute(done, this.settings, this.results)
    except Fault as found:
        done.ending = FaultFound(found.kind, found.message)
    if not this.free:
        said = done.ending.kind if isinstance(done.ending, FaultFound) else None
        events = done.events or {}
        ledger.settle(this.results, this.settings, this.attempt.id, this.token, events=events, fault=said)
    if isinstance(done.ending, FaultFound):
        _keep_fault(this, done, started_at, done.ending)
        return done.ending
    evidence = evidence_record(this.attempt.id, this.recipe_sha256, done, this.settings.invocation, started_at)
    evidence["earlier_faults"] = faults.earlier(this.results, this.attempt.id)
    evidence["redone"] = redone_reason(this.results, this.attempt.id)
    if not lease.still_ours():
        return FaultFound("interrupted", "another process took this attempt over; nothing was sealed here")
    seal.write_seal(done.folder, this.attempt, evidence)
    return None


def _keep_fault(this: Run, done: Executed, started_at: str, fault: FaultFound) -> None:
    folder: Path | None = done.prepared.stage.folder if done.prepared else None
    failed = faults.Failed(
        fault=fault,
        recipe_sha256=this.recipe_sha256,
        simulated=done.simulated(this.recipe),
        started_at=started_at,
        evidence=folder,
        report=done.report,
        events=done.events,
    )
    faults.keep(this.results, this.attempt.id, failed, this.settings)


def redone_reason(results: Results, attempt_id: AttemptId) -> str | None:
    """Why an earlier seal of this attempt was set aside, if one was."""
    from fairtrial.contracts.records import load

    records = sorted(results.redone(attempt_id).glob("*/redo.json"))
    return str(load(records[-1])["reason"]) if records else None
