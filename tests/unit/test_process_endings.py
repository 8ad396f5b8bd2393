"""How an agent's process ends, whatever it does, and that nothing of it is alive afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from fairtrial.contracts.protocols import Budget, Limits
from fairtrial.instruments.sandbox import run

from tests import box_rig as rig

BOXES = rig.boxes()


def is_result(line: bytes) -> bool:
    """A final event of the invented stream."""
    return b'"result"' in line


@pytest.fixture(params=sorted(BOXES))
def backend(request):
    """Each back end of this machine."""
    return BOXES[request.param]


def test_exit_status_and_output(tmp_path, backend):
    """An ordinary end: status, both streams and their sizes."""
    report = rig.watch(tmp_path, rig.box(tmp_path, "sh", "-c", "echo out; echo err >&2; exit 3"), backend=backend)
    assert (report.exit_status, report.signal, report.timed_out, report.survivors_killed) == (3, None, False, 0)
    assert ((tmp_path / "out").read_bytes(), (tmp_path / "err").read_bytes()) == (b"out\n", b"err\n")
    assert (report.stdout_bytes, report.stderr_kept_bytes) == (4, 4)


def test_a_signal_of_its_own_is_told(tmp_path, backend):
    """A crashed agent has a signal and no exit status, or the shell's 128 + n where the kernel does not say."""
    report = rig.watch(tmp_path, rig.box(tmp_path, "sh", "-c", "sleep 0.1; kill -SEGV $$"), backend=backend)
    assert (report.exit_status, report.signal) in ((None, signal.SIGSEGV), (128 + signal.SIGSEGV, None))


def test_stdin_is_never_inherited(tmp_path, backend):
    """With an open pipe as the runner's stdin, an agent that reads to the end of its own sees nothing (O09)."""
    reader, writer = os.pipe()
    before = os.dup(0)
    os.dup2(reader, 0)
    try:
        made = rig.program(tmp_path, "import sys; print(len(sys.stdin.buffer.read()))")
        report = rig.watch(tmp_path, made, 10, backend=backend)
        assert (report.exit_status, (tmp_path / "out").read_text()) == (0, "0\n")
        made.stdin = b"p" * 300_000
        assert rig.watch(tmp_path, made, 10, backend=backend).exit_status == 0
        assert (tmp_path / "out").read_text() == "300000\n"
    finally:
        os.dup2(before, 0)
        for fd in (reader, writer, before):
            os.close(fd)


def test_an_agent_that_does_not_read_its_prompt_ends(tmp_path, backend):
    """A prompt nobody reads neither blocks nor kills."""
    report = rig.watch(tmp_path, rig.box(tmp_path, "sh", "-c", "exit 4", stdin=b"p" * 2_000_000), backend=backend)
    assert report.exit_status == 4


def test_lingering_after_the_final_event(tmp_path, backend):
    """Work is done, the process and a child that holds stdout stay: completed, agent time to the event (O10)."""
    made = rig.program(
        tmp_path,
        "import os, time\nprint('{\"type\": \"result\"}', flush=True)\n"
        "os.fork()\ntime.sleep(30)\n",
    )  # fmt: skip
    begun = time.monotonic()
    report = rig.watch(tmp_path, made, 60, backend=backend, is_final_event=is_result)
    assert time.monotonic() - begun < 5
    assert (report.lingered, report.timed_out) == (True, False)
    assert report.agent_seconds < 2
    assert report.survivors_killed == 1


def test_a_budget_that_ends_after_the_final_event_is_no_timeout(tmp_path, backend):
    """The wall clock ends with the final event; what follows is lingering."""
    made = rig.box(tmp_path, "sh", "-c", "sleep 0.2; echo '\"result\"'; sleep 30")
    report = rig.watch(
        tmp_path, made, backend=backend, is_final_event=is_result, budget=Budget(0.4, linger_seconds=0.5)
    )
    assert (report.lingered, report.timed_out) == (True, False)


def test_timeout_with_term_ignored(tmp_path, backend):
    """TERM, grace, KILL: an agent that ignores TERM is killed, its file is kept (O23)."""
    made = rig.program(
        tmp_path,
        "import signal, time\nsignal.signal(signal.SIGTERM, lambda *a: print('asked', flush=True))\n"
        "open('answer.txt', 'w').write('42')\nprint('working', flush=True)\nwhile True: time.sleep(1)\n",
    )  # fmt: skip
    report = rig.watch(tmp_path, made, 1.0, backend=backend)
    assert (report.timed_out, report.exit_status, report.signal) == (True, None, signal.SIGKILL)
    assert (tmp_path / "out").read_text() == "working\nasked\n"
    assert (made.workspace / "answer.txt").read_text() == "42"
    assert 1.2 < report.agent_seconds < 3


def test_nothing_is_alive_afterwards(tmp_path, backend):
    """setsid, double fork, a respawner, a process group of its own: all gone, counted, the answer stays (O15)."""
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    made = rig.program(tmp_path, rig.LEFT_BEHIND)
    made.argv.append(mark)
    stranger = subprocess.Popen(
        [
            "sleep",
            "60",
        ],
        start_new_session=True,
    )
    try:
        report = rig.watch(tmp_path, made, 20, backend=backend, is_final_event=is_result)
        assert rig.alive(mark) == []
        assert report.survivors_killed >= 4
        assert report.exit_status == 0
        (made.workspace / "answer.txt").write_text("mine")
        time.sleep(0.3)
        assert (made.workspace / "answer.txt").read_text() == "mine"
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_stopped_by_an_instrument(tmp_path, backend):
    """A reason from the stop callable ends the agent and stands in the report."""
    begun = time.monotonic()
    report = rig.watch(
        tmp_path, rig.box(tmp_path, "sleep", "60"), backend=backend,
        stop_event=lambda: "usd cap" if time.monotonic() - begun > 0.3 else None,
    )  # fmt: skip
    assert (report.stopped_by, report.timed_out) == ("usd cap", False)


def test_size_cap(tmp_path, backend):
    """An attempt whose files outgrow the cap is ended, and the report says why."""
    made = rig.box(tmp_path, "sh", "-c", "head -c 3000000 /dev/zero > big; sleep 60")
    report = rig.watch(tmp_path, made, backend=backend, size_cap=2 << 20)
    assert report.stopped_by is not None
    assert report.stopped_by.startswith("disk: ")


def test_on_start_names_the_main_process(tmp_path, backend):
    """The pid handed over on this machine is the agent's own process, the clock is not in the future."""
    told = []

    def note(pid: int, clock_ns: int) -> None:
        told.append((clock_ns, str(Path(f"/proc/{pid}/cwd").readlink()), Path(f"/proc/{pid}/comm").read_text()))

    made = rig.box(tmp_path, "sleep", "0.5")
    report = rig.watch(tmp_path, made, backend=backend, on_start=note)
    assert told[0][0] == report.started_ns <= time.monotonic_ns()
    assert Path(told[0][1]).name in ("task", "workspace", "/")


def test_many_at_once_from_threads(tmp_path, backend):
    """Boxes started from several threads at the same time do not disturb each other."""
    done = {}

    def one(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        made = rig.box(folder, "sh", "-c", f"sleep 0.2; echo {number}; exit {number}")
        done[number] = (rig.watch(folder, made, backend=backend).exit_status, (folder / "out").read_text())

    threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == {number: (number, f"{number}\n") for number in range(4)}


def test_product_code_in_a_box(tmp_path, backend):
    """run_simple: output, status, /dev/stderr as in a shell, a hang is a result."""
    done = run.run_simple(
        rig.box(tmp_path, "sh", "-c", "cat; echo e > /dev/stderr; exit 5", stdin=b"in"), 10, backend=backend
    )
    assert (done.stdout, done.stderr, done.status, done.timed_out) == (b"in", b"e\n", 5, False)
    done = run.run_simple(rig.box(tmp_path, "sleep", "60"), 0.3, backend=backend)
    assert (done.timed_out, done.status) == (True, None)
    limits = Limits(output_bytes=1000)
    done = run.run_simple(rig.box(tmp_path, "sh", "-c", "yes | head -c 5000", limits=limits), 10, backend=backend)
    assert (len(done.stdout), done.stdout_bytes) == (1000, 5000)
