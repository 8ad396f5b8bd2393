"""Leaving an attempt out by hand; it stays on disk and is listed in the report with its reason."""

from __future__ import annotations

from fairtrial.contracts.clock import utc_now
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import dump
from fairtrial.paths import AttemptId, Results


def exclude(results: Results, attempt_id: AttemptId, reason: str | None) -> str:
    """Write exclude.json beside the seal."""
    attempt = results.attempt(attempt_id)
    if not (reason or "").strip():
        raise UserError("--reason: is missing; say why this attempt is left out")
    if not attempt.evidence.exists():
        raise UserError(f"{attempt_id}: is not sealed, so there is nothing to leave out")
    dump(attempt.exclude, {"schema_version": 1, "attempt_id": str(attempt_id), "reason": reason, "at": utc_now()})
    return f"{attempt_id}: left out; the next `snakemake --cores N` builds the report without it"


def undo(results: Results, attempt_id: AttemptId) -> str:
    """Remove exclude.json."""
    attempt = results.attempt(attempt_id)
    if not attempt.exclude.exists():
        raise UserError(f"{attempt_id}: is not excluded")
    attempt.exclude.unlink()
    return f"{attempt_id}: counts again; the next `snakemake --cores N` builds the report with it"
