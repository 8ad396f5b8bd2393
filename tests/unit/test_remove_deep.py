"""Folders nested deeper than a name or Python's own way reaches are deleted everywhere they can be met."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from fairtrial.capture.prepare import clear
from fairtrial.grading.judge_tree import remove as of_a_grade
from fairtrial.instruments.snapshots.store import remove as of_a_replay
from fairtrial.paths import Results
from fairtrial.verify.files import remove as of_a_verifier


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """A folder with 2,000 levels, files and a link in some, and some that nobody may enter."""
    top = tmp_path / "scratch" / "token"
    top.mkdir(parents=True)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    folder = os.open(top, os.O_RDONLY)
    for level in range(2000):
        os.mkdir("n" * 20, dir_fd=folder)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
        if level % 500 == 0:
            os.symlink(tmp_path / "kept", "link", dir_fd=folder)
        inner = os.open("n" * 20, os.O_RDONLY, dir_fd=folder)
        os.chmod("n" * 20, 0o500 if level % 300 else 0, dir_fd=folder) if level % 100 == 0 else None
        os.close(folder)
        folder = inner
    os.close(folder)
    return top


def of_an_attempt(folder: Path) -> None:
    """As capture deletes what an attempt was run in."""
    clear(Results(folder.parent.parent), folder.name)


@pytest.mark.parametrize("remove", [of_a_verifier, of_a_grade, of_a_replay, of_an_attempt])
def test_a_deep_folder_is_deleted(deep: Path, remove: Callable[[Path], None]) -> None:
    """Whatever the depth and the modes; what a link leads to stays."""
    remove(deep)
    assert not deep.exists()
    assert (deep.parent.parent / "kept" / "file").exists()
