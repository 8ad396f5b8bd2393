"""What happens to the agent when its runner is told to end, or is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

from tests import box_rig as rig

BOXES = rig.boxes()


@pytest.fixture(params=sorted(BOXES))
def backend(request):
    """Each back end of this machine."""
    return BOXES[request.param]


RUNNER = """
import sys
from pathlib import Path
from fairtrial.contracts.protocols import Box, Budget
from fairtrial.instruments.sandbox import backends, run
t = Path(sys.argv[1])
backend = {"bwrap": lambda: backends.best()[0], "landlock": backends.landlock_backend, "plain": backends.plain_backend}
box = Box(t / "workspace", t / "home", ["python3", "agent.py", sys.argv[2]])
r = run.run(box, Budget(60, grace_seconds=0.3), stdout=t / "o", stderr=t / "e", times=t / "t",
            backend=backend[sys.argv[3]](), on_start=lambda pid, at: print("started", flush=True))
print(r.interrupted, r.timed_out, r.stopped_by, flush=True)
"""


@pytest.fixture
def runner(tmp_path, backend):
    """A runner of its own with an agent that leaves processes behind, and the mark they carry."""
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    rig.program(tmp_path, rig.LEFT_BEHIND.replace("print(json", "time.sleep(LIFE)\nprint(json"))
    words = [sys.executable, "-c", RUNNER, str(tmp_path), mark, backend.kind]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "started\n"
        deadline = time.monotonic() + 10
        while len(rig.alive(mark)) < 6 and time.monotonic() < deadline:
            time.sleep(0.05)
        yield process, mark
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_runner_ends_the_agent(runner, number):
    """SIGTERM or SIGINT: the agent and all it left are gone, the report says interrupted."""
    process, mark = runner
    process.send_signal(number)
    assert process.stdout.readline() == "True False None\n"
    assert rig.alive(f"agent.py {mark}") == []
    assert [pid for pid in rig.alive(mark) if pid != process.pid] == []


@pytest.mark.parametrize("told", [True, False])
def test_a_signal_to_all_of_a_job_is_no_end_of_the_agents_own(runner, told):
    """A scheduler that cancels signals the agent too, and may reach it first: interrupted; the agent alone: its end."""
    process, mark = runner
    for pid in rig.alive(mark):
        if pid != process.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
    time.sleep(0.05)
    if told:
        process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == f"{told} False None\n"


def test_a_killed_runner_leaves_no_agent(runner):
    """SIGKILL to the runner: neither the agent nor anything it started survives, box or not."""
    process, mark = runner
    process.kill()
    process.wait()
    deadline = time.monotonic() + 5
    while (left := rig.alive(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


@pytest.mark.skipif(sys.platform != "linux", reason="boxes are Linux only")
def test_a_runner_killed_while_it_starts_leaves_no_agent(tmp_path):
    """SIGKILL at any moment of the start: no box starts by itself afterwards and none is left waiting."""
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    made = rig.box(tmp_path)
    early = RUNNER.replace("r = run.run", "print('now', flush=True)\nr = run.run").replace(
        '"agent.py"', '"-c", "import time; time.sleep(20)"'
    )
    for delay in (0.0, 0.002, 0.004, 0.006, 0.008, 0.011, 0.015, 0.02, 0.03):
        words = [sys.executable, "-c", early, str(tmp_path), mark, "bwrap"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "now\n"
            time.sleep(delay)
            process.kill()
    deadline = time.monotonic() + 20
    while (left := rig.alive(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []
    assert made.workspace.is_dir()
