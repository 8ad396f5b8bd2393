"""The words that box a child of a program that knows nothing of boxes."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from fairtrial.contracts.protocols import Bind, Box
from fairtrial.instruments.sandbox import backends, prefix

from tests import box_rig as rig


@pytest.fixture
def words(tmp_path):
    """A prefix with a read-only acceptance folder."""
    (tmp_path / "acceptance").mkdir()
    (tmp_path / "acceptance/a").write_text("a")
    made = Box(Path(), Path(), env={"OWN": "1"}, binds=[Bind(tmp_path / "acceptance", "/task/acceptance")])
    return prefix.prefix(made, tmp_path / "odd name's folder", policy="required")


def _run(words, folder, script, **other):
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        [*words, "sh", "-c", script], cwd=folder, capture_output=True, text=True, timeout=20, check=False, **other
    )


def test_each_child_has_its_own_workspace(words, tmp_path):
    """The folder a child is started in is its workspace; one prefix serves many."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
        assert _run(words, tmp_path / name, "pwd; cat file; echo new > new").stdout == f"/task\n{name}"
        assert (tmp_path / name / "new").read_text() == "new\n"


def test_environment_and_pid_1_are_clean(words, tmp_path):
    """Nothing of the caller's environment and no path of this machine is seen."""
    done = _run(words, tmp_path / "w", "env; cat /proc/1/environ; tr '\\0' ' ' < /proc/1/cmdline", env={"SECRET": "s"})
    assert "SECRET" not in done.stdout
    assert "OWN=1" in done.stdout
    assert str(tmp_path) not in done.stdout


def test_no_network_no_writing_to_acceptance_no_ptrace(words, tmp_path):
    """The child is boxed like an agent, filter included."""
    script = (
        "echo x > acceptance/a; grep Seccomp: /proc/self/status; cat acceptance/a; echo; cat /proc/net/dev | grep -c :"
    )
    done = _run(words, tmp_path / "w", script)
    assert done.stdout.split() == ["Seccomp:", "2", "a", "1"]
    assert "Read-only" in done.stderr


def test_status_stdin_and_kill(words, tmp_path):
    """Exit status and stdin pass through; killing the process ends what it started."""
    assert _run(words, tmp_path / "w", "read a; exit $a", input="9\n").returncode == 9
    mark = f"mark-{time.monotonic_ns()}"
    command = [
        *words,
        "python3",
        "-c",
        "import os, time\nos.fork()\nos.setsid() if os.getpid() > 2 else 0\ntime.sleep(30)",
    ]
    with subprocess.Popen([*command, mark], cwd=tmp_path / "w") as child:
        deadline = time.monotonic() + 10
        while len(rig.alive(mark)) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        child.kill()
        child.wait()
        deadline = time.monotonic() + 5
        while rig.alive(mark) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert rig.alive(mark) == []


def test_where_no_box_can_be_had_there_are_no_words(tmp_path, monkeypatch):
    """Degraded, the prefix is empty and the command runs where it stands."""
    monkeypatch.setattr(backends, "_found", {None: (backends.plain_backend(), [])})
    assert prefix.prefix(rig.box(tmp_path, "x"), tmp_path / "p") == []
