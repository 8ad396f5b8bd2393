"""Following an attempt while it runs: what the agent prints, and what it calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from fairtrial.capture.spend import progress
from fairtrial.capture.spend.leases import holder
from fairtrial.contracts.errors import UserError
from fairtrial.paths import Attempt, AttemptId, Results

FILES = {"stdout": "agent-stdout.txt", "stderr": "agent-stderr.txt", "requests": "requests.jsonl"}
POLL_SECONDS = 0.3


def choose(results: Results, wanted: str | None) -> Attempt:
    """The attempt that is named, whole or in part, among those that run; UserError lists them."""
    found = sorted(progress.running(results))
    if wanted is not None and wanted.count("/") >= 5:
        return results.attempt(AttemptId.parse(wanted))
    matching = [name for name in found if wanted is None or wanted in name]
    if len(matching) == 1:
        return results.attempt(matching[0])
    if not found:
        raise UserError("no attempt is being run; `fairtrial status` says how far the experiment is")
    raise UserError("\n  ".join(["which one? these run:", *(matching or found)]))


def follow(results: Results, attempt: Attempt, what: str, show: Callable[[bytes], None]) -> str:
    """Pass on what is written to one file, from its beginning, until the attempt is over; says how it ended."""
    for piece in pieces(results, attempt, FILES[what]):
        show(piece)
    if attempt.evidence.exists():
        return f"{attempt.id}: sealed"
    faults = sorted(results.faults(attempt.id).glob("*/fault.json"))
    return f"{attempt.id}: {f'fault: {faults[-1]}' if faults else 'ended without a seal'}"


def pieces(results: Results, attempt: Attempt, name: str) -> Iterator[bytes]:
    """New bytes as they appear; the rest is read from the sealed folder once it is there."""
    at = 0
    while True:
        held = holder(attempt.lease)
        place = results.scratch(held["token"]) / "evidence" if held else attempt.folder
        data = _read(place / name, at)
        if data:
            at += len(data)
            yield data
        elif held is None:
            return
        else:
            time.sleep(POLL_SECONDS)


def _read(path: Path, at: int) -> bytes:
    try:
        with path.open("rb") as stream:
            stream.seek(at)
            return stream.read(1 << 20)
    except OSError:
        return b""
