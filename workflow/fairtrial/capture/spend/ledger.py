"""The ledger: one record file per reservation and settlement, created exclusively, so that no cent is forgotten."""

from __future__ import annotations

import hashlib
import json
import time
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.contracts.clock import utc_now
from fairtrial.contracts.records import create
from fairtrial.paths import AttemptId, Results


def entry(results: Results, settings: Settings, attempt_id: AttemptId, token: str, **fields: Any) -> None:
    """Write one record (schemas/ledger.schema.json)."""
    name = f"{time.time_ns()}-{token}-{fields['kind']}"
    record = {
        "schema_version": 1,
        "entry": name,
        "experiment": settings.name,
        "attempt_id": str(attempt_id),
        "token": token,
        "at": utc_now(),
        "usd": None,
        "source": None,
        "fault": None,
        "invocation": settings.invocation,
        **fields,
    }
    create(results.ledger(settings.name) / _drawer(attempt_id) / f"{name}.json", record)


def _drawer(attempt_id: AttemptId) -> str:
    """One folder an attempt, so that asking about one reads its own records only."""
    return hashlib.sha256(str(attempt_id).encode()).hexdigest()[:16]


def reserve(results: Results, settings: Settings, attempt_id: AttemptId, token: str, usd: float | None) -> None:
    """Before an attempt that costs money starts."""
    entry(results, settings, attempt_id, token, kind="reserve", usd=usd)


def settle(
    results: Results,
    settings: Settings,
    attempt_id: AttemptId,
    token: str,
    *,
    events: dict[str, Any],
    fault: str | None,
) -> None:
    """After it ended, as a result or as a fault; an unknown cost stays null."""
    known = {"usd": events.get("cost_usd"), "source": events.get("cost_source")}
    entry(results, settings, attempt_id, token, kind="settle", fault=fault, **known)


def says_paid(results: Results, attempt_id: AttemptId) -> bool:
    """Was this attempt settled as a result, in any experiment, and not redone since?"""
    redone = max((p.parent.name for p in results.redone(attempt_id).glob("*/redo.json")), default="")
    for path in (results.root / "ledger").glob(f"*/{_drawer(attempt_id)}/*-settle.json"):
        record = json.loads(path.read_bytes())
        if record["attempt_id"] == str(attempt_id) and record["fault"] is None and record["entry"] > redone:
            return True
    return False
