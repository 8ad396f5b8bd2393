"""Files too large to be held in memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from fairtrial.contracts.errors import UserError
from fairtrial.instruments.snapshots.store import Store


def test_a_large_file_is_restored_without_taking_its_size_in_memory(tmp_path: Path) -> None:
    """An agent's sparse giant costs disk and time, never the grader's memory; a damaged one is still an error."""
    (tmp_path / "work").mkdir()
    with (tmp_path / "work" / "giant").open("wb") as stream:
        stream.truncate(96 << 20)
    store = Store(tmp_path / "store")
    tree = store.capture(tmp_path / "work", at_rest=True)
    tracemalloc.start()
    store.restore(tree, tmp_path / "out")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "out" / "giant").stat().st_size == 96 << 20
    assert peak < 48 << 20
    with (tmp_path / "store" / "pack").open("r+b") as pack:
        pack.seek(50 << 20)
        pack.write(b"x")
    with pytest.raises(UserError, match="has other content"):
        store.restore(tree, tmp_path / "again")
