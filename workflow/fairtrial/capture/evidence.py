"""The evidence record: what was run, how it went, what was in force (schemas/evidence.schema.json)."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

from fairtrial import __version__, registry
from fairtrial.capture.execute import Executed
from fairtrial.capture.secrets import in_force
from fairtrial.contracts.clock import utc_now
from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import Ending, ProcessReport
from fairtrial.paths import AttemptId


def evidence_record(
    attempt_id: AttemptId, recipe_sha256: str, done: Executed, invocation: str, started_at: str
) -> dict[str, Any]:
    """Everything but `files`, which the seal adds."""
    report, ending, prepared = done.report, done.ending, done.prepared
    if report is None or prepared is None or not isinstance(ending, Ending):
        raise Fault("other", "an attempt that did not run has no evidence")
    workspace, recipe = prepared.stage.box.workspace, prepared.stage.recipe
    snapshots = done.facts.get("snapshots", {})
    return {
        "schema_version": 1,
        "attempt_id": str(attempt_id),
        "recipe_sha256": recipe_sha256,
        "recipe": recipe,
        "repetition": attempt_id.repetition,
        "simulated": done.simulated(recipe),
        "started_at": started_at,
        "ended_at": utc_now(),
        "agent_seconds": report.agent_seconds,
        "wall_seconds": (report.ended_ns - report.started_ns) / 1e9,
        "ending": ending.ending,
        "ending_reason": ending.reason,
        "process": process(report),
        "isolation": in_force(report.isolation, recipe),
        "versions": versions(prepared.version, recipe),
        "platform": machine(done),
        "instruments": done.facts,
        "earlier_faults": 0,
        "redone": None,
        "start_tree": snapshots.get("start_tree") or "",
        "end_tree": snapshots.get("end_tree") or "",
        "acceptance_changed": changed(workspace / "acceptance", recipe["acceptance"]),
        "protected_changed": changed(workspace, protected(recipe)),
        "invocation": invocation,
    }


def versions(observed: str | None, recipe: dict[str, Any]) -> dict[str, Any]:
    """Of the harness, of the version-control tool and of what measured them."""
    toolset: Any = registry.load("fairtrial.toolsets", recipe["toolset"]["name"], "toolset")
    return {
        "harness_observed": observed,
        "harness_pinned": recipe["harness"]["version"],
        "fairtrial": __version__,
        "python": sys.version.split()[0],
        "toolset": toolset.probe_version(),
    }


def process(report: ProcessReport) -> dict[str, Any]:
    """The facts of the process."""
    names = (
        "exit_status", "signal", "timed_out", "lingered", "stopped_by", "survivors_killed", "stdout_bytes",
        "stderr_bytes", "stdout_kept_bytes", "stderr_kept_bytes",
    )  # fmt: skip
    return {name: getattr(report, name) for name in names}


def machine(done: Executed) -> dict[str, Any]:
    """Where it ran; the host name only as a short hash."""
    found = os.uname()
    return {
        "system": found.sysname,
        "release": found.release,
        "machine": found.machine,
        "cpus": os.cpu_count() or 1,
        "load_start": done.load_start,
        "load_end": done.load_end,
        "node": hashlib.sha256(found.nodename.encode()).hexdigest()[:8],
    }


def protected(recipe: dict[str, Any]) -> list[dict[str, Any]]:
    """The workspace entries the task protects."""
    kept = [path.rstrip("/") for path in recipe["protected"]]
    return [e for e in recipe["workspace"] if any(e["path"] == p or e["path"].startswith(p + "/") for p in kept)]


def changed(root: Path, expected: list[dict[str, Any]]) -> list[str]:
    """Paths of files that are no longer what they were; links are compared by their text and never followed."""
    return [entry["path"] for entry in expected if entry["mode"] != "dir" and not _same(root, entry)]


def _same(root: Path, entry: dict[str, Any]) -> bool:
    path = root / entry["path"]
    if any((root / parent).is_symlink() for parent in Path(entry["path"]).parents):
        return False
    if entry["mode"] == "link":
        return path.is_symlink() and str(path.readlink()) == str(entry["target"])
    if path.is_symlink() or not path.is_file():
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == str(entry["sha256"])
