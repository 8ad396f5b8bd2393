"""What a command says where it cannot write: the name of the stream, or the folder that must be writable."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fairtrial.__main__ import main
from fairtrial.paths import Attempt, Results

from tests import fabricate

NOBODY = 65534


@pytest.fixture
def attempt(tmp_path: Path) -> Iterator[Attempt]:
    """An attempt of somebody else, who lets others read only."""
    root = tmp_path / "results"
    fabricate.tree(root, tasks=1, repetitions=1, arms=fabricate.ARMS_3X2[:1])
    [found] = Results(root).attempts()
    for call in ("exclude --reason why", "exclude --undo", "show", "redo"):  # imports what nobody else may find later
        with contextlib.suppress(SystemExit):
            main([*call.split()[:1], str(found.id), *call.split()[1:], "--results", str(root)])
    closed = [tmp_path, *(p for p in tmp_path.rglob("*") if p.is_dir())]
    for folder in closed:
        folder.chmod(0o555)
    for folder in tmp_path.parents:  # pytest's own are for their owner only
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(0o711)
    me = os.geteuid()
    if me == 0:
        os.seteuid(NOBODY)
    yield found
    os.seteuid(me)
    for folder in closed:
        folder.chmod(0o755)


def test_a_refusal_names_the_folder_that_must_be_writable(attempt: Attempt, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit code 2, of each verb that writes; nothing is changed."""
    root = attempt.folder.parents[6]
    where = [str(attempt.id), "--results", str(root)]
    before = sorted(root.rglob("*"))
    for call, folder in (
        (["exclude", *where, "--reason", "why"], attempt.folder),
        (["redo", *where, "--reason", "why"], root),
    ):
        assert main(call) == 2, call
        said = capsys.readouterr()
        assert said.out == "" and said.err.count("\n") == 1
        assert said.err.endswith(f": Permission denied; the folder {folder} must be writable for you\n"), call
    assert sorted(root.rglob("*")) == before


def test_a_file_that_may_not_be_read_is_only_named(
    attempt: Attempt, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No folder is asked to be writable for that."""
    me = os.geteuid()
    os.seteuid(os.getuid())
    attempt.evidence.chmod(0)
    os.seteuid(me)
    assert main(["show", str(attempt.folder)]) == 2
    assert capsys.readouterr().err.endswith("/evidence.json: Permission denied\n")
    assert tmp_path.exists()


@pytest.mark.parametrize("arguments", [["list", "skipped"], ["list", "tasks"], ["--version"], ["--help"]])
def test_a_full_standard_output_is_named(arguments: list[str]) -> None:
    """No `None`, no traceback: one line and exit code 2."""
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "fairtrial", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "fairtrial: standard output: No space left on device\n")
