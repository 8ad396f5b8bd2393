"""How an agent's process ends, whatever it does, and that nothing of it is alive afterwards."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from fairtrial.contracts.protocols import Budget, Limits
from fairtrial.instruments.sandbox import run

_spec = importlib.util.spec_from_file_location("box_rig", Path(__file__).resolve().parents[1] / "box_rig.py")
rig = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(rig)

BOXES = rig.boxes()
LEFT_BEHIND = """
import json, os, signal, socket, sys, time
LIFE = 40  # seconds: should a test fail, its processes still end by themselves
signal.alarm(LIFE)
def daemon(work):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.alarm(LIFE)
    work()
def rewrite():
    while True:
        open("answer.txt", "w").write("41")
        time.sleep(0.05)
def hold():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen()
    time.sleep(LIFE)
def respawn():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        if os.fork() == 0:
            signal.alarm(LIFE)
            time.sleep(LIFE)
            os._exit(0)
        os.wait()
open("answer.txt", "w").write("42")
daemon(rewrite)
daemon(hold)
daemon(respawn)
if os.fork() == 0:
    os.setpgid(0, 0)
    signal.alarm(LIFE)
    time.sleep(LIFE)
    os._exit(0)
time.sleep(0.3)
print(json.dumps({"type": "result"}), flush=True)
"""


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
    made = rig.program(tmp_path, LEFT_BEHIND)
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


def test_a_long_line_and_a_full_stderr(tmp_path, backend):
    """8 MiB in one line with 2 MiB on stderr in between: all kept, the final event seen (O11)."""
    made = rig.program(
        tmp_path,
        "import sys\nw = sys.stdout.write\nw('{}\\n'); w('y' * (8 << 20) + '\\n')\n"
        "sys.stderr.write('e' * (2 << 20)); sys.stderr.flush(); w('\"result\"\\n')\n",
    )  # fmt: skip
    report = rig.watch(tmp_path, made, backend=backend, is_final_event=is_result)
    assert report.final_event_ns is not None
    assert (report.stdout_bytes, report.stderr_bytes) == ((8 << 20) + 13, 2 << 20)
    lines = [json.loads(line) for line in (tmp_path / "times").read_text().splitlines()]
    assert [line["line"] for line in lines] == [1, 2, 3]
    assert [line["at_ns"] for line in lines] == sorted(line["at_ns"] for line in lines)


def test_much_output_takes_constant_memory(tmp_path):
    """200 MB of output: the first bytes kept, all counted, the final event beyond the cap kept, memory flat (O11)."""
    script = (
        "import json, resource, sys; from pathlib import Path\n"
        "from fairtrial.contracts.protocols import Box, Budget, Limits\n"
        "from fairtrial.instruments.sandbox import run\n"
        "t = Path(sys.argv[1])\n"
        "box = Box(t / 'w', t / 'h', ['sh', '-c', 'yes $(printf %0100d 0) | head -c 200000000;"
        " echo; echo \\'\"result\"\\''],"
        " limits=Limits(output_bytes=1 << 20))\n"
        "r = run.run(box, Budget(60), stdout=t / 'o', stderr=t / 'e', times=t / 't', "
        "is_final_event=lambda line: b'result' in line)\n"
        "print(json.dumps([r.stdout_bytes, r.stdout_kept_bytes, r.final_event_ns is not None, r.timed_out,"
        " resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))\n"
    )
    for name in ("w", "h"):
        (tmp_path / name).mkdir()
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True)
    total, kept, final, timed_out, memory = json.loads(done.stdout)
    assert (total, final, timed_out) == (200_000_010, True, False)
    assert kept == (1 << 20) + 10 == (tmp_path / "o").stat().st_size
    assert (tmp_path / "o").read_bytes().endswith(b'\n"result"\n')
    assert memory < 120_000  # KiB


def test_bytes_that_are_no_text(tmp_path, backend):
    """Whatever the bytes, they arrive as they are, and only a newline ends a line (O12)."""
    odd = b'{"a":"\xb2"}\r\n\x00\x1b[31m\xff\n"\xe2\x80\xa8 \xed\xb2\xb2"\rx\n{"torn'
    made = rig.program(tmp_path, "import sys; sys.stdout.buffer.write(open('odd', 'rb').read())")
    (made.workspace / "odd").write_bytes(odd)
    rig.watch(tmp_path, made, backend=backend)
    assert (tmp_path / "out").read_bytes() == odd
    assert len((tmp_path / "times").read_text().splitlines()) == 4


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
    rig.program(tmp_path, LEFT_BEHIND.replace("print(json", "time.sleep(LIFE)\nprint(json"))
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
    deadline = time.monotonic() + 5
    while (left := rig.alive(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []
    assert made.workspace.is_dir()


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
