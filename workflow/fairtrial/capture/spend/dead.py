"""What a dead attempt left: its spend is settled, its evidence becomes a fault `interrupted`, its folder goes."""

from __future__ import annotations

from typing import Any

from fairtrial import registry
from fairtrial.capture import faults
from fairtrial.capture.execute import Executed
from fairtrial.capture.prepare import clear, load_recipe
from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import leases, ledger
from fairtrial.contracts.clock import utc_now
from fairtrial.contracts.errors import Fault, UserError
from fairtrial.contracts.protocols import FaultFound
from fairtrial.contracts.records import create, load
from fairtrial.instruments.endpoint.merge import merged
from fairtrial.paths import AttemptId, Results
from fairtrial.wire.captured import streams

UNKNOWN = {"usd": None, "source": None, "fault": "interrupted"}


def note(results: Results, record: dict[str, Any]) -> None:
    """Before an attempt is laid out: whose folder below scratch/ this is."""
    folder = results.scratch(record["token"])
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    create(folder / "lease.json", record)


def bury(results: Results, attempt_id: AttemptId, dead: dict[str, Any], settings: Settings) -> None:
    """Called under the lease's lock with a dead holder's record ({} when it cannot be read).

    A start that the ledger knows of and that left no evidence, killed before its folder was laid out, gets an empty
    one first: whatever is settled as unknown has its fault, also when this process is killed in turn.
    """
    sealed = results.attempt(attempt_id).evidence.exists()
    holders = {str(dead["token"]): dead} if dead.get("token") else {}
    if not sealed:
        for token in ledger.open_leases(results, attempt_id):
            holders.setdefault(token, {**dead, "attempt_id": str(attempt_id), "token": token})
            _lay_out(results, holders[token])
    ledger.settle_dead(
        results, attempt_id, None, lambda start: sealed_cost(results, attempt_id, settings) if sealed else UNKNOWN
    )
    for token, record in holders.items():
        if (results.scratch(token) / "evidence").is_dir() and not sealed:
            _keep(results, attempt_id, record, settings)
        clear(results, token)


def _lay_out(results: Results, record: dict[str, Any]) -> None:
    """A folder for the evidence of a start that had none yet, found again by `sweep`."""
    folder = results.scratch(str(record["token"]))
    if not (folder / "evidence").is_dir():
        unknown = {"host": "unknown", "pid": 0, "heartbeat_seconds": leases.HEARTBEAT_SECONDS}
        create(folder / "lease.json", {**unknown, **record})
        (folder / "evidence").mkdir(mode=0o700)


def _keep(results: Results, attempt_id: AttemptId, dead: dict[str, Any], settings: Settings) -> None:
    try:
        recipe, sha256 = load_recipe(results, attempt_id)
    except Fault:
        return  # another tree's leftovers; there is nothing to say about them
    who = f"process {dead['pid']} on {dead['host']}" if dead.get("pid") else "its process"
    message = f"{who} died before it ended: killed, or the machine went down"
    failed = faults.Failed(
        fault=FaultFound("interrupted", message),
        recipe_sha256=sha256,
        simulated=Executed().simulated(recipe),
        started_at=str(dead.get("started_at") or utc_now()),
        evidence=results.scratch(str(dead["token"])) / "evidence",
        events=ledger.last_word(results, attempt_id, str(dead["token"])),
    )
    faults.keep(results, attempt_id, failed, settings)


def sealed_cost(results: Results, attempt_id: AttemptId, settings: Settings) -> dict[str, Any]:
    """The cost of an attempt that was sealed and died before it was settled, read from its sealed streams."""
    attempt = results.attempt(attempt_id)
    try:
        evidence = load(attempt.evidence)
        harness, endpoint = evidence["recipe"]["harness"], evidence["instruments"].get("endpoint")
        reader: Any = registry.load("fairtrial.harnesses", harness["adapter"], "events")
        events = merged(reader.read(streams(attempt.folder, harness["options"])), endpoint)
    except (UserError, OSError, KeyError, TypeError):  # damaged; `attempt` refuses it and names redo
        return {**UNKNOWN, "fault": None}
    return {**ledger.said(events, settings, attempt_id), "fault": None}


def sweep(results: Results, settings: Settings) -> int:
    """At a start: bury every attempt whose holder is dead; returns how many there were."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in ledger.open_attempts(results)}
    for folder in sorted((results.root / "scratch").glob("*")):
        record = leases.held(folder / "lease.json")
        if record is not None:
            found.setdefault(str(record["attempt_id"]), []).append(record)
    return sum(_sweep_one(results, name, records, settings) for name, records in sorted(found.items()))


def _sweep_one(results: Results, name: str, records: list[dict[str, Any]], settings: Settings) -> int:
    try:
        attempt_id = AttemptId.parse(name)
    except UserError:
        return 0
    lease = results.attempt(attempt_id).lease
    with leases.locked(lease):
        holder = leases.held(lease)
        if holder is not None and leases.is_alive(holder, lease):
            return 0  # its taker buried what was there before it
        dead = [*records, *([holder] if holder is not None else [])]
        for record in {str(r["token"]): r for r in dead}.values() or [{}]:
            bury(results, attempt_id, record, settings)
        lease.unlink(missing_ok=True)
    lease.with_name(lease.name + ".lock").unlink(missing_ok=True)
    return 1
