"""Setting a sealed attempt aside, with a reason, so that it is paid again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import dead, invocation, ledger
from fairtrial.capture.spend.leases import holder
from fairtrial.contracts.clock import stamp
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import dump, load
from fairtrial.paths import Attempt, AttemptId, Results
from fairtrial.upkeep import stop


def redo(results: Results, attempt_id: AttemptId, reason: str) -> str:
    """Move the attempt's folder to redone/ and keep the reason beside it; says what it had cost."""
    attempt = results.attempt(attempt_id)
    if not reason.strip():
        raise UserError("--reason: is empty; say why this attempt is to be paid again")
    there = attempt.folder.is_dir()
    if not there and not ledger.says_paid(results, attempt_id):
        raise UserError(f"{attempt_id}: there is no such attempt on disk; `fairtrial show` takes the same name")
    running = holder(attempt.lease)
    if running:
        raise UserError(f"{attempt_id}: is being run by process {running['pid']} on {running['host']}; wait for it")
    _refuse_planned(results, attempt_id)
    if attempt.evidence.exists():
        _settle(results, attempt_id)
    moment = datetime.now(UTC)
    aside = results.redone(attempt_id) / f"{moment:%Y%m%dT%H%M%S%f}"
    aside.parent.mkdir(parents=True, exist_ok=True)
    cost = known_cost(results, attempt)
    if there:
        attempt.folder.rename(aside)
    record: dict[str, Any] = {
        "schema_version": 1,
        "attempt_id": str(attempt_id),
        "reason": reason.strip(),
        "at": stamp(moment),
        "cost_usd": cost,
        "set_aside": aside.name if there else None,
    }
    dump(aside / "redo.json", record)
    said = "an unknown amount" if cost is None else f"{cost:.4f} USD"
    where = f"set aside in {aside}" if there else f"its folder is gone; the reason is kept in {aside}"
    return f"{attempt_id}: {where}; it had cost {said}; the next run pays for it again"


def _settle(results: Results, attempt_id: AttemptId) -> None:
    """Sealed and killed before it was settled: once the seal is aside, the next start would take it for a fault."""
    settings = Settings(prices=invocation.prices([results]))
    ledger.settle_dead(results, attempt_id, None, lambda start: dead.sealed_cost(results, attempt_id, settings))


def _refuse_planned(results: Results, attempt_id: AttemptId) -> None:
    """A run that has this attempt behind it would miss its result at the end."""
    *path, recipe = str(attempt_id).split("/")[:5]
    for name, run in stop.runs(results).items():
        matrix = results.experiment(name).matrix
        for cell in load(matrix)["cells"] if matrix.exists() else []:
            same = [cell[key] for key in ("suite", "task", "harness", "model")] == path and cell["recipe"] == recipe
            if same and attempt_id.repetition <= cell["repetitions"]:
                raise UserError(
                    f"{attempt_id}: experiment {name!r} is being run by process {run['pid']} on {run['host']} and "
                    "counts on it; wait for the end, or `fairtrial stop`"
                )


def known_cost(results: Results, attempt: Attempt) -> float | None:
    """US dollars from the ledger, else from any grade of the attempt; None when none says."""
    paid = ledger.cost_of_result(results, attempt.id)
    if paid is not None:
        return paid
    for path in sorted((attempt.folder / "grades").glob("*/result.json")):
        try:
            cost = load(path)["performance"]["time_cost"]["cost_usd"]
        except (UserError, KeyError, TypeError):
            continue
        if cost is not None:
            return float(cost)
    return None
