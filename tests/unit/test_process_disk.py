"""Free disk space and the size of an attempt."""

from __future__ import annotations

import os

import pytest
from fairtrial.contracts.errors import Fault
from fairtrial.instruments.sandbox import disk


def test_too_little_room_is_a_fault(tmp_path):
    """The message says how much there is and how much is needed; the folder need not exist yet."""
    disk.check_free(tmp_path / "not/yet", 1)
    with pytest.raises(Fault, match=r"MiB free for .*MiB needed") as caught:
        disk.check_free(tmp_path / "not/yet", 1 << 60)
    assert caught.value.kind == "disk"


def test_bytes_of_a_tree(tmp_path):
    """Allocated bytes count: a sparse file is small, a link is not followed, a vanished folder is nothing."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/file").write_bytes(b"x" * 100_000)
    with (tmp_path / "sparse").open("wb") as file:
        os.truncate(file.fileno(), 1 << 30)
    (tmp_path / "link").symlink_to("/usr")
    assert 100_000 <= disk.tree_bytes(tmp_path) < 300_000
    assert disk.tree_bytes(tmp_path / "nowhere") == 0


def test_no_cap_no_thread(tmp_path):
    """Without a cap nothing is watched."""
    with disk.SizeWatch([tmp_path], None) as size:
        assert size._thread is None
        assert size.reason() is None
