"""Landlock and plain processes: what they do give, and that they say what they do not."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fairtrial.contracts.protocols import Bind
from fairtrial.instruments.sandbox import landlock, processes, supervised

from tests import box_rig as rig

FALLBACKS = {name: found for name, found in rig.boxes().items() if name != "bwrap"}


@pytest.fixture(params=sorted(FALLBACKS))
def backend(request):
    """Each back end that is not a box."""
    return FALLBACKS[request.param]


def test_paths_of_the_box_are_translated(tmp_path, backend):
    """Argument list and environment speak of the box; without one they name this machine's paths."""
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool/name").write_text("tool\n")
    made = rig.box(
        tmp_path, "sh", "-c", 'cat /run/tool/name; echo "$HERE"; cd /task && pwd; echo /task-list /other/task',
        env={"HERE": "in=/home/agent/.x:/task"}, binds=[Bind(tmp_path / "tool", "/run/tool")],
    )  # fmt: skip
    report = rig.watch(tmp_path, made, backend=backend)
    assert (report.exit_status, (tmp_path / "err").read_text()) == (0, "")
    lines = (tmp_path / "out").read_text().splitlines()
    assert lines[:3] == ["tool", f"in={made.home}/.x:{made.workspace}", str(made.workspace)]
    assert lines[3] == "/task-list /other/task"


def test_the_environment_is_not_inherited(tmp_path, backend, monkeypatch):
    """The allow-list holds without a box (O13), and python is found."""
    monkeypatch.setenv("OUTER", "1")
    rig.watch(tmp_path, rig.box(tmp_path, "sh", "-c", "env; command -v python3"), backend=backend)
    lines = (tmp_path / "out").read_text().splitlines()
    assert not [line for line in lines if line.startswith(("OUTER", "PYTEST"))]
    assert lines[-1].endswith("/bin/python3")


def test_the_copy_of_acceptance_goes_unless_it_was_changed(tmp_path, backend):
    """What would be mounted is copied; an untouched copy is taken back, a changed one stays as a finding."""
    (tmp_path / "acceptance/deep").mkdir(parents=True)
    (tmp_path / "acceptance/deep/check").write_text("1")
    made = rig.box(tmp_path, "cat", "acceptance/deep/check", binds=[Bind(tmp_path / "acceptance", "/task/acceptance")])
    rig.watch(tmp_path, made, backend=backend)
    assert (tmp_path / "out").read_text() == "1"
    assert not (made.workspace / "acceptance").exists()
    made.argv = ["sh", "-c", "echo 2 > acceptance/deep/check"]
    rig.watch(tmp_path, made, backend=backend)
    assert (made.workspace / "acceptance/deep/check").read_text() == "2\n"
    assert (tmp_path / "acceptance/deep/check").read_text() == "1"


def test_an_agent_that_kills_its_supervisor_leaves_nothing(tmp_path, backend):
    """Its orphans come to the runner and are ended there."""
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    made = rig.program(
        tmp_path,
        "import os, signal, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(30)\n"
        "    os._exit(0)\ntime.sleep(0.2)\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(30)\n",
    )  # fmt: skip
    made.argv.append(mark)
    rig.watch(tmp_path, made, 3, backend=backend)
    assert rig.alive(mark) == []


def test_a_command_that_is_not_there(tmp_path, backend):
    """A missing program is status 127 with its name on stderr, as in a shell."""
    report = rig.watch(tmp_path, rig.box(tmp_path, "no-such-agent"), backend=backend)
    assert report.exit_status == 127
    assert b"no-such-agent" in (tmp_path / "err").read_bytes()


def test_the_endpoint_listens_on_this_machine(tmp_path, backend):
    """Without a network of its own the agent reaches the endpoint on the loopback."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    opened = []
    made = rig.program(
        tmp_path, f"import socket; print(socket.create_connection(('127.0.0.1', {port})).getpeername()[1])"
    )
    made.network = "endpoint"
    rig.watch(tmp_path, made, backend=backend, listener=(port, opened.append))
    opened[0].close()
    assert (tmp_path / "out").read_text() == f"{port}\n", (tmp_path / "err").read_text()


@pytest.fixture
def locked():
    """The Landlock back end."""
    if "landlock" not in FALLBACKS:
        pytest.skip("this kernel has no Landlock")
    return FALLBACKS["landlock"]


def test_landlock_keeps_files_out_of_reach(tmp_path, locked):
    """Hidden files, the home folder and /etc/shadow cannot be read; workspace, HOME and TMPDIR can be written."""
    (tmp_path / "verifier").mkdir()
    (tmp_path / "verifier/verify.py").write_text("secret")
    script = (
        f"cat {tmp_path}/verifier/verify.py; ls {tmp_path} {Path.home()}; cat /etc/shadow; touch /usr/planted; "
        "touch /etc/planted; echo 1 > new && echo 1 > $HOME/new && echo 1 > $TMPDIR/new && echo worked"
    )
    made = rig.box(tmp_path, "sh", "-c", script, hidden=[tmp_path / "verifier/verify.py"])
    report = rig.watch(tmp_path, made, backend=locked)
    assert (tmp_path / "out").read_text() == "worked\n"
    canaries = report.isolation["canaries"]
    assert (canaries["hidden_absent"], canaries["home_absent"]) == (True, True)


def test_landlock_refuses_connections(tmp_path, locked):
    """From version 4 on, TCP is refused, to this machine too; the record says what is not covered."""
    made = rig.program(
        tmp_path,
        "import socket\ntry:\n    socket.create_connection(('127.0.0.1', 9), 2)\n"
        "except OSError as e:\n    print(type(e).__name__)\n",
    )  # fmt: skip
    report = rig.watch(tmp_path, made, backend=locked)
    if locked.landlock_abi >= 4:
        assert (tmp_path / "out").read_text() == "PermissionError\n"
        assert report.isolation["netns"] == "none"
    assert "no process isolation" in report.isolation["degraded"]


def test_landlock_hides_the_runners_environment(tmp_path, locked, monkeypatch):
    """The runner cannot be read through /proc, although its processes can be seen."""
    made = rig.box(tmp_path, "sh", "-c", f"cat /proc/{os.getpid()}/environ && echo read")
    rig.watch(tmp_path, made, backend=locked)
    assert (tmp_path / "out").read_bytes() == b""


def test_what_landlock_lacks_depends_on_its_version():
    """Older versions are said to cover less."""
    assert "no network isolation" in landlock.lacking(3)
    assert "UDP is not covered" in landlock.lacking(4)
    assert set(landlock.lacking(7)) < set(landlock.lacking(4))


def test_translation_keeps_other_words(tmp_path):
    """Only whole paths are replaced, the longest first."""
    made = rig.box(tmp_path, "true", binds=[Bind(tmp_path / "w2", "/task/sub")])
    places = supervised.Places(made)
    assert places.real("/task/sub/x") == f"{tmp_path}/w2/x"
    assert places.real("a=/task,b=x/task /tasks") == f"a={made.workspace},b=x/task /tasks"


RESPAWNERS = """
import os, signal, time
signal.alarm(30)
for _ in range(3):
    if os.fork() == 0:
        break
signal.alarm(30)
while True:
    if os.fork() == 0:
        signal.alarm(30)
        time.sleep(30)
        os._exit(0)
    os.wait()
"""


def test_stopping_before_killing_ends_a_respawner():
    """A tree in which every process that ends is replaced is gone within moments."""
    words = [sys.executable, "-c", f"import os, time\nif os.fork():\n    time.sleep(30)\n    os._exit(0)\n{RESPAWNERS}"]
    with subprocess.Popen(words) as top:
        time.sleep(0.5)
        assert len(processes.descendants(top.pid)) >= 5
        begun = time.monotonic()
        seen = processes.kill_below(top.pid, set())
        assert time.monotonic() - begun < 5
        assert len(seen) >= 5
        top.kill()
