"""Infrastructure faults: one folder and one record each, and the streak that stops a harness and model."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.contracts.clock import utc_now
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import FaultFound, ProcessReport
from fairtrial.contracts.records import create, load
from fairtrial.paths import AttemptId, Results

NOT_COUNTED = frozenset({"interrupted"})  # a person stopped it; that says nothing about the CLI
NO_TOKENS = dict.fromkeys(("input_uncached", "cache_read", "cache_write", "output", "reasoning"))


@lean(frozen=True)
class Failed:
    """What is known of an attempt that became a fault."""

    fault: FaultFound
    recipe_sha256: str
    simulated: bool
    started_at: str
    evidence: Path | None = None  # folder with what was captured
    report: ProcessReport | None = None
    events: dict[str, Any] | None = None
    retry_after: float | None = None  # seconds, as the provider said


def keep(results: Results, attempt_id: AttemptId, failed: Failed, settings: Settings) -> Path:
    """Move the evidence under faults/ and write fault.json beside it; the record's path."""
    fault_id = _begun(failed.evidence) or _new_id()
    folder = results.faults(attempt_id) / fault_id
    folder.parent.mkdir(parents=True, exist_ok=True)
    if failed.evidence is not None and failed.evidence.is_dir():
        # the record goes in before the folder moves, so that a kill leaves a whole fault or none
        create(failed.evidence / "fault.json", record(attempt_id, fault_id, failed, settings, failed.evidence))
        failed.evidence.rename(folder)
    else:
        create(folder / "fault.json", record(attempt_id, fault_id, failed, settings, folder))
    return folder / "fault.json"


def _new_id() -> str:
    from datetime import UTC, datetime

    moment = datetime.now(UTC)
    return f"{moment:%Y%m%dT%H%M%S}{moment.microsecond:06d}Z-{time.monotonic_ns() % 0x10000:04x}"


def _begun(evidence: Path | None) -> str | None:
    """The id in a record whose writer was killed before the folder moved: folder and record keep one name."""
    if evidence is None or not (evidence / "fault.json").exists():
        return None
    try:
        return str(load(evidence / "fault.json")["fault_id"])
    except (UserError, KeyError):
        (evidence / "fault.json").unlink()  # not whole; it is written anew
        return None


def record(attempt_id: AttemptId, fault_id: str, failed: Failed, settings: Settings, folder: Path) -> dict[str, Any]:
    """schemas/fault.schema.json"""
    events = failed.events or {}
    return {
        "schema_version": 1,
        "fault_id": fault_id,
        "attempt_id": str(attempt_id),
        "recipe_sha256": failed.recipe_sha256,
        "kind": failed.fault.kind,
        "message": failed.fault.message,
        "started_at": failed.started_at,
        "ended_at": utc_now(),
        "agent_seconds": failed.report.agent_seconds if failed.report else None,
        **{key: events.get(key) for key in ("cost_usd", "cost_source", "turns", "model_observed")},
        "tokens": events.get("tokens") or NO_TOKENS,
        "invocation": settings.invocation,
        "simulated": failed.simulated,
        "harness": attempt_id.harness,
        "model": attempt_id.model,
        "suite": attempt_id.suite,
        "task": attempt_id.task,
        "repetition": attempt_id.repetition,
        "retry_after_seconds": failed.retry_after,
        "files": sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())
        if folder.is_dir()
        else [],
    }


def earlier(results: Results, attempt_id: AttemptId) -> int:
    """How many faults this attempt had before."""
    return sum(1 for _ in results.faults(attempt_id).glob("*/fault.json"))


def _markers(results: Results, settings: Settings, attempt_id: AttemptId) -> Path:
    return results.invocation(settings.invocation) / "ended" / f"{attempt_id.harness}--{attempt_id.model}"


def mark(results: Results, settings: Settings, attempt_id: AttemptId, fault: FaultFound | None) -> None:
    """Note how an attempt of this harness and model ended, for the streak."""
    if fault is not None and fault.kind in NOT_COUNTED:
        return
    said = {"fault": None if fault is None else f"{fault.kind}: {fault.message}"}
    create(_markers(results, settings, attempt_id) / f"{time.time_ns()}-{attempt_id.repetition}.json", said)


def streak(results: Results, settings: Settings, attempt_id: AttemptId) -> str | None:
    """The last fault's message when the last N attempts of this harness and model all faulted; None otherwise."""
    if settings.stop_after == 0:
        return None
    ended = sorted(_markers(results, settings, attempt_id).glob("*.json"))[-settings.stop_after :]
    said: list[str | None] = [json.loads(path.read_bytes())["fault"] for path in ended]
    if len(said) < settings.stop_after or None in said:
        return None
    return said[-1]
