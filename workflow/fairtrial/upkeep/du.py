"""What a results tree takes on disk, by kind of file and by arm. Reads sizes only."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairtrial.paths import Results

STREAMS = frozenset({"agent-stdout.txt", "agent-stderr.txt", "agent-times.jsonl"})
SEALS = frozenset({"evidence.json", "sealed"})
# First folder below results/ -> kind; everything else there is an experiment.
ELSEWHERE = {
    "faults": "faults", "redone": "redone", "objects": "frozen task files", "ledger": "ledger", "logs": "logs",
    "tries": "tries", "invocations": "invocations", "scratch": "scratch", "slots": "scratch",
}  # fmt: skip


@dataclass(slots=True)
class Usage:
    """Bytes: of kinds, of arms (harness/model) and of an arm's kinds."""

    kinds: Counter[str] = field(default_factory=Counter)
    arms: Counter[str] = field(default_factory=Counter)
    both: Counter[tuple[str, str]] = field(default_factory=Counter)

    def record(self) -> dict[str, Any]:
        """As JSON."""
        arms = {arm: {kind: size for (a, kind), size in sorted(self.both.items()) if a == arm} for arm in self.arms}
        return {
            "total": self.kinds.total(),
            "kinds": dict(self.kinds.most_common()),
            "arms": dict(sorted(arms.items())),
        }


def measure(results: Results) -> Usage:
    """Walk the tree once; links are not followed, a file with several names counts once."""
    usage, seen = Usage(), set()
    for parts, size, inode in _files(str(results.root)):
        if inode in seen:
            continue
        seen.add(inode)
        kind = kind_of(parts)
        usage.kinds[kind] += size
        if parts[0] == "attempts" and len(parts) > 7:
            arm = f"{parts[3]}/{parts[4]}"
            usage.arms[arm] += size
            usage.both[arm, kind] += size
    return usage


def kind_of(parts: tuple[str, ...]) -> str:
    """The kind of a file from its path below results/."""
    if parts[0] != "attempts":
        return ELSEWHERE.get(parts[0], "tables and reports")
    inner = parts[7:]
    if not inner:
        return "other evidence"
    if inner[0] in SEALS:
        return "seals"
    if inner[0] in STREAMS:
        return "streams"
    names = {"command-output": "command output", "snapshots": "snapshots", "snapshots.json": "snapshots",
             "grades": "results", "trace.jsonl": "trace"}  # fmt: skip
    return names.get(inner[0], "other evidence")


def _files(root: str) -> Iterator[tuple[tuple[str, ...], int, tuple[int, int]]]:
    for top, _, files in os.walk(root):
        above = Path(top).relative_to(root).parts
        for name in files:
            try:
                found = os.lstat(os.path.join(top, name))  # noqa: PTH118 -- a million of these
            except FileNotFoundError:  # a run goes on beside this
                continue
            yield (*above, name), found.st_size, (found.st_dev, found.st_ino)
