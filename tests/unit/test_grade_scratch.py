"""Where a grade lays its trees out."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fairtrial.grading import scratch
from fairtrial.instruments.snapshots.pack import Pack


@dataclass
class Recorded:
    """As much of a recording as the choice looks at."""

    sizes: dict[str, int]
    end: str = "end"
    looks: list[dict[str, Any]] = field(default_factory=lambda: [{"tree": "start"}, {"tree": "end"}])

    def most_bytes(self, tree: str) -> int:
        """A tree's size, from above."""
        return self.sizes[tree]


@pytest.mark.skipif(not Path(scratch.MEMORY).is_dir(), reason="no /dev/shm on this system")
@pytest.mark.parametrize(("start", "end", "free", "set_by_user", "in_memory"), [
    (1, 1, 0, False, True),
    (1, 1, 0, True, False),
    (1, 1, 1 << 62, False, False),
    (1, scratch.TREE_BYTES + 1, 0, False, False),
    (scratch.TREE_BYTES + 1, 1, 0, False, False),
])  # fmt: skip
def test_small_trees_are_judged_in_memory(
    monkeypatch: pytest.MonkeyPatch, start: int, end: int, free: int, set_by_user: bool, in_memory: bool
) -> None:
    """Only where there is room for the largest of them, programs may run there, and TMPDIR says nothing else."""
    monkeypatch.delenv("TMPDIR", raising=False)
    if set_by_user:
        monkeypatch.setenv("TMPDIR", "/elsewhere")
    monkeypatch.setattr(scratch, "FREE_BYTES", free)
    fit = not os.statvfs(scratch.MEMORY).f_flag & os.ST_NOEXEC and os.access(scratch.MEMORY, os.W_OK)
    found = scratch.place(Recorded({"start": start, "end": end}))  # type: ignore[arg-type]
    assert found == (scratch.MEMORY if in_memory and fit else None)


@pytest.mark.parametrize("content", [b"", b"x", os.urandom(70_000), bytes(3 << 20)])
def test_the_estimate_is_never_too_small(tmp_path: Path, content: bytes) -> None:
    """What compresses best is still estimated from above."""
    pack = Pack(tmp_path / "pack")
    digest = pack.add(content)
    assert pack.most_bytes(digest) >= len(content)
    pack.close()
