"""Stopping a run from another shell: no further attempt starts, those that run are finished and graded."""

from __future__ import annotations

from typing import Any

from fairtrial.capture.spend import invocation, progress
from fairtrial.capture.spend.leases import holder
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.plain import counted
from fairtrial.paths import Results


def stop(results: Results, name: str | None, reason: str) -> str:
    """Set the stop flag of the one run that is meant; it ends with that run, so nothing has to be lifted."""
    running = runs(results)
    if name is None and len(running) > 1:
        raise UserError(f"which one? these are being run: {', '.join(running)}")
    chosen = name or next(iter(running), None)
    if chosen not in running:
        what = f"experiment {chosen!r} is not" if chosen else "no experiment is"
        other = f"; these are: {', '.join(running)}" if running else ""
        raise UserError(f"{what} being run in {results.root}{other}")
    own = str(running[chosen]["invocation"])
    first = invocation.stop(results, own, reason)
    mine = sum(record["invocation"] == own for record in progress.running(results).values())
    said = "starts no further attempt" if first else "was told so before"
    return (
        f"{chosen}: {said}; {counted(mine, 'attempt')} still running, to be finished and graded "
        f"(Ctrl-C where process {running[chosen]['pid']} runs ends them too)\nto go on afterwards: "
        f"{invocation.command_of(results, own)}"
    )


def runs(results: Results) -> dict[str, dict[str, Any]]:
    """Experiment -> record of the lock that its living run holds."""
    found = {}
    for path in sorted(results.root.glob("*/.running.json")):
        record = holder(path)
        if record is not None:
            found[path.parent.name] = record
    return found
