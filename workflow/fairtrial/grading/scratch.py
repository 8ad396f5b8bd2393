"""Where trees are laid out to be judged: in memory where they are small and there is room, because a judgement makes
and removes hundreds of folders, which takes most of a version-control task's grade on a disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fairtrial.instruments.snapshots.export import Recording

MEMORY = "/dev/shm"  # noqa: S108 - only as the parent of a private folder
FREE_BYTES = 4 << 30  # of the file system and of the machine's memory
TREE_BYTES = 512 << 20  # of the largest tree, estimated from above


def place(recording: Recording) -> str | None:
    """The parent of a grade's scratch folder; None is the usual one for temporary files.

    TMPDIR is obeyed. Programs must be executable there, which in many containers they are not.
    """
    if "TMPDIR" in os.environ or not _roomy():
        return None
    trees = {recording.end, *(str(look["tree"]) for look in recording.looks)}
    return MEMORY if all(recording.most_bytes(tree) <= TREE_BYTES for tree in trees) else None


def _roomy() -> bool:
    try:
        facts = os.statvfs(MEMORY)
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
            available = next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return False
    if facts.f_flag & (os.ST_NOEXEC | os.ST_RDONLY) or not os.access(MEMORY, os.W_OK | os.X_OK):
        return False
    return min(available, facts.f_bavail * facts.f_frsize) >= FREE_BYTES
