"""Files too large to be held in memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from fairtrial.contracts.errors import UserError
from fairtrial.instruments.snapshots import store as store_module
from fairtrial.instruments.snapshots.store import Caps, Store


def test_a_large_file_is_restored_without_taking_its_size_in_memory(tmp_path: Path) -> None:
    """An agent's giant costs disk and time, never the grader's memory; a damaged one is still an error."""
    (tmp_path / "work").mkdir()
    with (tmp_path / "work" / "giant").open("wb") as stream:
        for _ in range(96):
            stream.write(bytes(1 << 20))
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


def test_a_hole_is_left_out_and_named(tmp_path: Path) -> None:
    """A file of 3 GB that is all hole is neither read nor written out; one with data, or small, is kept."""
    (tmp_path / "work").mkdir()
    for name, size in (("hole", 3 << 30), ("small", 1 << 20)):
        with (tmp_path / "work" / name).open("wb") as stream:
            stream.truncate(size)
    (tmp_path / "work" / "data").write_bytes(b"x" * (1 << 20))
    store = Store(tmp_path / "store")
    tree = store.capture(tmp_path / "work", at_rest=True)
    assert store.restore(tree, tmp_path / "out") == [b"hole"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["data", "small"]
    assert (tmp_path / "store" / "pack").stat().st_size < 4 << 20


def test_one_file_by_many_names_is_not_written_out_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links to one file cost its disk once and the pack nothing: what one look may hold together is limited."""
    monkeypatch.setattr(store_module, "AT_REST", Caps(look=10 << 20))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a").write_bytes(b"x" * (1 << 20))
    for number in range(30):
        (tmp_path / "work" / f"link{number:02}").hardlink_to(tmp_path / "work" / "a")
    store = Store(tmp_path / "store")
    for _ in range(2):  # each look has its own account
        tree = store.capture(tmp_path / "work", at_rest=True)
    assert len(store.restore(tree, tmp_path / "out")) == 21
    assert len(list((tmp_path / "out").iterdir())) == 10


def test_files_without_content_count_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name alone costs time wherever the tree is laid out: each counts for 4 KiB."""
    monkeypatch.setattr(store_module, "AT_REST", Caps(look=8 << 12))
    (tmp_path / "work").mkdir()
    for number in range(12):
        (tmp_path / "work" / f"empty{number}").touch()
    store = Store(tmp_path / "store")
    assert len(store.restore(store.capture(tmp_path / "work", at_rest=True), tmp_path / "out")) == 4
