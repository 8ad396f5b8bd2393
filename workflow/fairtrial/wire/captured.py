"""The captured bytes of an attempt folder, as transcript readers get them, and the process facts beside them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fairtrial.contracts.protocols import ProcessReport, Streams

STDOUT, STDERR, TIMES = "agent-stdout.txt", "agent-stderr.txt", "agent-times.jsonl"
OURS = frozenset({STDOUT, STDERR, TIMES, "evidence.json", "sealed", "snapshots.json", "trace.jsonl", "requests.jsonl",
                  "workspace.patch", "redo.json", "exclude.json", "pruned.json"})  # fmt: skip


def streams(folder: Path, options: dict[str, Any]) -> Streams:
    """Read an attempt folder. Files an adapter had collected are those at its top that are not fairtrial's own."""
    times = [json.loads(line)["at_ns"] for line in _bytes(folder / TIMES).splitlines()]
    extra = {p.name: p.read_bytes() for p in _collected(folder)}
    return Streams(_bytes(folder / STDOUT), _bytes(folder / STDERR), times, extra, options)


def _collected(folder: Path) -> Iterable[Path]:
    return sorted(p for p in folder.iterdir() if p.is_file() and p.name not in OURS and not p.name.startswith("."))


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def report_of(evidence: dict[str, Any]) -> ProcessReport:
    """The process report that a sealed attempt was classified with; times as far as they are kept."""
    process = evidence["process"]
    agent, wall = int(evidence["agent_seconds"] * 1e9), int(evidence["wall_seconds"] * 1e9)
    return ProcessReport(
        started_ns=0,
        ended_ns=wall,
        final_event_ns=agent if agent < wall else None,
        interrupted=False,
        isolation=evidence["isolation"],
        **process,
    )
