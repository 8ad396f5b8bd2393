"""Preflight: before more than one paid attempt of an arm starts, its first must end without a fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.capture.spend.leases import Lease, holder, take
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


@contextmanager
def admitted(
    place: Path, lease: dict[str, Any], patience: float, stopped: Callable[[], str | None]
) -> Iterator[str | None]:
    """Wait until this attempt may start; yields None, or why it must not.

    The first comer goes ahead as the preflight and holds a lease of it; the others wait at most `patience` seconds.
    """
    deadline = time.monotonic() + patience
    while not passed(place):
        reason = stopped()
        if reason is None and time.monotonic() > deadline:
            other = holder(place / "first.json") or {}
            reason = f"the first attempt of this arm ({other.get('attempt_id')}) did not end in time"
        if reason is not None:
            yield reason
            return
        if take(place / "first.json", lease, lambda dead: None) is None:
            with Lease(place / "first.json", lease):
                yield None
            return
        time.sleep(POLL_SECONDS)
    yield None


def passes(place: Path, token: str) -> None:
    """An attempt ended without a fault: the others may go."""
    if not passed(place):
        create(place / "passed.json", {"token": token})
