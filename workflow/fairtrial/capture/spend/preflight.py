"""Preflight: before more than one paid attempt of an arm starts, its first must end without a fault."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.capture.spend.leases import holder, take
from fairtrial.contracts.records import create
from fairtrial.paths import AttemptId, Results

POLL_SECONDS = 0.2


def folder(results: Results, settings: Settings, attempt_id: AttemptId, recipe: dict[str, Any]) -> Path:
    """Where this invocation keeps the preflight of one arm."""
    arm = f"{attempt_id.harness}--{recipe['toolset']['name']}--{recipe['adoption']}--{attempt_id.model}"
    return results.invocation(settings.invocation) / "preflight" / arm


def passed(place: Path) -> bool:
    """Has an attempt of this arm ended without a fault in this invocation?"""
    return (place / "passed.json").exists()


def enter(place: Path, lease: dict[str, Any], wall_seconds: float, stopped: Callable[[], str | None]) -> str | None:
    """Wait until this attempt may start; None: go on, else why it must not.

    The first comer goes ahead as the preflight; the others wait for it at most three wall budgets and a minute.
    """
    deadline = time.monotonic() + 3 * wall_seconds + 60
    while not passed(place):
        reason = stopped()
        if reason is not None:
            return reason
        if take(place / "first.json", lease, lambda dead: None) is None:
            return None
        if time.monotonic() > deadline:
            other = holder(place / "first.json") or {}
            return f"the first attempt of this arm ({other.get('attempt_id')}) did not end in time"
        time.sleep(POLL_SECONDS)
    return None


def leave(place: Path, token: str, ok: bool) -> None:
    """The attempt ended; a first one that was fine lets the others go."""
    if ok and not passed(place):
        create(place / "passed.json", {"token": token})
    first = place / "first.json"
    try:
        if json.loads(first.read_bytes())["token"] == token:
            first.unlink(missing_ok=True)
    except (OSError, ValueError, KeyError):
        return
