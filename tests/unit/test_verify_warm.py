"""Verification.python in a real box: the same as a start of its own, nothing shared between commands."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fairtrial.grading.judge_box import Boxes
from fairtrial.instruments.sandbox import backends
from fairtrial.verify import Failed, Result, Verification

FILES = {
    "pkg/__init__.py": "",
    "pkg/__main__.py": "import sys\nprint(sys.argv, __name__, __file__, __package__)\nsys.exit(len(sys.argv))\n",
    "pkg/m.py": "def twice(x):\n    print('noise')\n    return x * 2\n",
    "tool.py": "import sys, os\nprint(sys.argv, __file__, sys.path[0], os.getcwd())\nprint(sys.stdin.read(), end='')\n",
    "deep/tool.py": "import beside\nprint(beside.NAME, __builtins__.__name__, sorted(globals()))\n",
    "deep/beside.py": "NAME = 'beside'\n",
    "csv.py": "NAME = 'the workspace has one of its own'\n",
    "json.py": "raise SystemExit('not for the machinery')\n",
    "data/kept.txt": "as it was\n",
    "loader.py": "print(type(__loader__).__name__, __spec__)\n",
    "shadow/enum.py": "raise RuntimeError('the one of the workspace')\n",
    "shadow/main.py": "import argparse\nprint('read ahead')\n",
    "lib/getopt.py": "NAME = 'of the workspace'\n",
    "lib/m.py": "import getopt\ndef name():\n    return getopt.NAME\n",
    "pool.py": (
        "import multiprocessing as mp\ndef f(x):\n    return x * x\nif __name__ == '__main__':\n"
        "    for way in ('fork', 'spawn'):\n        with mp.get_context(way).Pool(2) as pool:\n"
        "            print(way, pool.map(f, [1, 2, 3]))\n"
    ),
    "tee.py": (
        "import sys\nclass Tee:\n    out = sys.stdout\n    flush = out.flush\n"
        "    def write(self, text): self.out.write('tee ' + text)\nsys.stdout = Tee()\nprint('x')\n"
    ),
    "last.py": "class A:\n    def __del__(self):\n        print('last words')\na = A()\na.me = a\n",
}
STATE = (
    "import os\n"
    "for top, _, names in sorted(os.walk('.')):\n"
    "    print(top, oct(os.stat(top).st_mode), *((n, oct(os.lstat(f'{top}/{n}').st_mode)) for n in sorted(names)))\n"
    "    print([open(f'{top}/{n}').read() for n in sorted(names)])\n"
    "import resource\nprint([resource.getrlimit(n) for n in range(16)], os.getpriority(os.PRIO_PROCESS, 0))\n"
    "print([oct(os.stat(p).st_mode) for p in (os.environ['HOME'], '/tmp')], open('/proc/sysvipc/shm').read())\n"
    "print(os.listdir(os.environ['HOME']), os.listdir('/tmp'), os.listdir('/dev/shm'))\n"
    "others = {n for n in os.listdir('/proc') if n.isdigit()} - {'1', str(os.getpid()), str(os.getppid())}\n"
    "print(sorted(others))\n"
)
COMMANDS: list[tuple[list[str], bytes]] = [
    (["-m", "pkg", "a", "b c"], b""),
    (["-m", "pkg.missing"], b""),
    (["tool.py", "x", "\u00e9"], "stdin \u00e9".encode()),
    (["./tool.py"], b"\xff" * 70_000),
    (["deep/tool.py"], b""),
    (["-c", "import sys; print(sys.argv, __name__, sys.path[0] == '', sorted(globals()))", "y"], b""),
    (["-c", "import csv, sys; print(csv.NAME, sys.flags, sys.stdout.encoding, sys.stdin.errors)"], b""),
    (["-c", "import sys; sys.exit('a message')"], b""),
    (["-c", "import sys; sys.exit(300)"], b""),
    (["-c", "import sys; sys.exit(-1)"], b""),
    (["-c", "print(1, flush=True); 1 / 0"], b""),
    (["-c", "import os; print('not flushed'); os._exit(3)"], b""),
    (["-c", "import os; os.kill(os.getpid(), 15)"], b""),
    (["-c", "import os; os.abort()"], b""),
    (["-c", "import atexit, sys; atexit.register(print, 'last'); print('first'); sys.stderr.write('error')"], b""),
    (["-c", "import os, sys; left = open(os.dup(1), 'w'); left.write('written, not flushed'); sys.exit(0)"], b""),
    (["-c", "import threading, time; threading.Thread(target=lambda: (time.sleep(.1), print('thread'))).start()"], b""),
    (["-c", "import subprocess as s, sys; s.run([sys.executable, 'tool.py', 'inner'], stdin=s.DEVNULL)"], b""),
    (["-c", "import os; print(os.environ); print(os.getuid(), os.isatty(0), os.listdir('/run/ft'))"], b""),
    (["-c", "import sys; sys.excepthook = lambda *a: print('hook', a[0].__name__); raise KeyError('x')"], b""),
    (["-c", "import sys\ndef hook(*a): sys.exit(9)\nsys.excepthook = hook\n1 / 0"], b""),
    (["-c", "import sys; sys.exit(2**70)"], b""),
    (["-c", "import weakref\nclass A: pass\na = A(); p = weakref.proxy(a); del a; print('dead proxy')"], b""),
    (["-c", "class A:\n    @property\n    def __class__(self): raise KeyError\na = [A()]; print('no class')"], b""),
    (["-c", "import sys, types; sys.modules['threading'] = types.ModuleType('threading')\nsys.stderr.close()"], b""),
    (["-c", "import os; print('lost'); os.close(1)"], b""),
    (["-c", "import sys; sys.stdout.close()"], b""),
    (["-c", "import sys; print(*(s.seekable() for s in (sys.stdin, sys.stdout, sys.stderr)), sys.orig_argv)"], b""),
    (["-c", "def x(:"], b""),
    (["tee.py"], b""),
    (["-c", "import os, time\nos.fork() or (time.sleep(.1), print('late', flush=True))"], b""),
    (["loader.py"], b""),
    (["shadow/main.py"], b""),
    (["pool.py"], b""),
    (["last.py"], b""),
]  # fmt: skip


@pytest.fixture
def v(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Verification]:
    """A verification of FILES whose children run in boxes."""
    if backends.choose("auto").kind != "bwrap":
        pytest.skip("no bubblewrap: Verification.python is Verification.run")
    boxes = Boxes("required", tmp_path / "room")
    (tmp_path / "room").mkdir()
    for name, content in FILES.items():
        path = tmp_path / "workspace" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (tmp_path / "task").mkdir()
    told = {
        "workspace": str(tmp_path / "workspace"), "task": str(tmp_path / "task"), "prefix": boxes.prefix(),
        "nonce": "n", "python": boxes.python(), "report": str(tmp_path / "report.json"), "seconds": 100,
    }  # fmt: skip
    (tmp_path / "settings.json").write_text(json.dumps(told))
    monkeypatch.setenv("FAIRTRIAL_VERIFY", str(tmp_path / "settings.json"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    made = Verification()
    yield made
    made.finish()


def said(result: Result) -> tuple[Any, ...]:
    """What two ways to run a command must agree in; of a traceback only its last line."""
    error = result.stderr.decode()
    error = error.splitlines()[-1] if "Traceback" in error else error
    return result.status, result.stdout, error, result.timed_out, result.truncated


@pytest.mark.parametrize(("argv", "stdin"), COMMANDS, ids=[" ".join(c[0])[:60] for c in COMMANDS])
def test_a_forked_command_is_what_a_start_of_its_own_is(v: Verification, argv: list[str], stdin: bytes) -> None:
    """Status, both outputs, arguments, names, paths and the end of a program are those of `python3 ARGV`."""
    assert v._prefix
    warm = v.python(argv, stdin=stdin)
    assert v._warm is not None
    assert v._warm.ready
    assert said(warm) == said(v.run(["python3", *argv], stdin=stdin))


def test_a_file_that_is_not_there_is_status_2(v: Verification) -> None:
    """As from Python itself; its words differ a little."""
    result = v.python(["gone.py"])
    assert (result.status, result.stdout) == (2, b"")
    assert b"can't open file '/task/gone.py'" in result.stderr


@pytest.mark.parametrize("code", [
    "open('data/kept.txt', 'a').write('more'); open('new', 'w').write('x'); os.mkdir('folder'); open('folder/x', 'w')",
    "os.remove('data/kept.txt'); os.mkdir('data/kept.txt'); os.symlink('/etc/passwd', 'link'); os.chmod('tool.py', 0)",
    "import shutil; shutil.rmtree('data'); shutil.rmtree('pkg'); os.symlink('deep', 'pkg'); os.chmod('deep', 0)",
    "os.rename('data', 'moved'); os.mkfifo('pipe'); os.chmod('.', 0o500)",
    "os.utime('data/kept.txt', (1, 1)); os.link('data/kept.txt', 'second'); os.chmod('data/kept.txt', 0o777)",
    "os.chdir(os.path.expanduser('~')); os.mkdir('a'); [open(n, 'w') for n in ('a/b', '/tmp/c', '/dev/shm/d')]",
    "os.fork() or (os.setsid(), os.fork() or (time.sleep(60)))",
    "os.fork() or (os.setsid(), [os.fork() and os._exit(0) for _ in iter(int, 1)])",
    "os.chmod('/tmp', 0); os.chmod(os.path.expanduser('~'), 0o500)",
    "[(os.mkdir('n' * 20), os.chdir('n' * 20)) for _ in range(1500)]",
    "was = os.stat('tool.py'); f = open('tool.py', 'r+'); f.write('#'); f.close(); os.utime('tool.py', (1, 1))",
    "import ctypes; assert ctypes.CDLL(None).shmget(7, 4096, 0o1600) >= 0",
    "import resource; resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (5, 5))",
    "import resource; resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (5, 5))",
    "os.setpriority(os.PRIO_PROCESS, os.getppid(), os.nice(0) + 7)",
])  # fmt: skip
def test_nothing_of_one_command_is_there_for_the_next(v: Verification, code: str) -> None:
    """Files, links, modes, HOME, /tmp and processes are as at first, whatever the command before did."""
    before = v.python(["-c", STATE])
    assert before.text.endswith("[] [] []\n[]\n")
    started = time.monotonic()
    did = v.python(["-c", f"import os, time\n{code}\n"], files={"data/extra.txt": "x", "tool.py": b"overlaid"})
    assert (did.status, did.stderr) == (0, b"")
    after = v.python(["-c", STATE])
    assert (after.text, after.status) == (before.text, 0)
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("code", [
    "os.kill(os.getppid(), 9); time.sleep(60)",
    "os.kill(os.getppid(), 19); time.sleep(60)",
    "f = f'/proc/{os.getppid()}/fd/'; [open(f + n, 'wb').write(b'{\"nonce\": 1}\\n[[[') for n in os.listdir(f)]",
    "os.open(f'/proc/{os.getppid()}/mem', os.O_WRONLY)",
])  # fmt: skip
def test_attacking_the_machinery_costs_the_command_itself(v: Verification, code: str) -> None:
    """Whatever product code does to the process that forked it, the next command runs as it should."""
    began = time.monotonic()
    v.python(["-c", f"import os, time\n{code}\n"], timeout=1)
    assert time.monotonic() - began < 8
    assert v.python(["-c", "print(2)"]).stdout == b"2\n"


def test_a_forged_answer_does_not_outlive_its_command(v: Verification) -> None:
    """What leads to and from the process that forked it cannot be opened again: nothing is forged, nothing is read."""
    forge = (
        "import os\nfor pid in (1, os.getppid()):\n  for n in os.listdir(f'/proc/{pid}/fd'):\n"
        "    place = f'/proc/{pid}/fd/{n}'\n"
        "    if not os.readlink(place).startswith('socket'): continue\n"
        "    for how in (os.O_WRONLY, os.O_RDONLY):\n"
        "      try: os.open(place, how | os.O_NONBLOCK); print('opened', place)\n"
        "      except OSError as e: print(e.errno)\n"
    )
    result = v.python(["-c", forge], timeout=3)
    assert set(v.ok(result).text.split()) == {"6"}
    assert v.python(["-c", "print(3)"]).stdout == b"3\n"
    assert v._copies == 1


def test_a_hang_and_a_flood_end_by_their_limits(v: Verification) -> None:
    """A command that does not end is timed out; what it prints beyond the cap is dropped; a daemon holds nobody."""
    began = time.monotonic()
    hung = v.python(["-c", "print('begun', flush=True)\nwhile True: pass"], timeout=0.5)
    assert (hung.timed_out, hung.stdout) == (True, b"begun\n")
    flood = v.python(["-c", "import sys; sys.stdout.write('x' * (17 << 20))"])
    assert (flood.status, len(flood.stdout), flood.truncated) == (0, 16 << 20, True)
    daemon = v.python(["-c", "import os, time; os.fork() or (os.setsid(), time.sleep(60)); print('left')"])
    assert (daemon.status, daemon.stdout, daemon.timed_out) == (0, b"left\n", False)
    assert time.monotonic() - began < 10
    assert v._warm is not None
    assert v._warm.ready


def test_calls_go_the_same_way(v: Verification) -> None:
    """Values, exceptions and hangs of functions come from forked children too."""
    assert v.calls("pkg.m", "twice", [([2], {}), (["ab"], {})]) == [4, "abab"]
    v.raises("TypeError", "pkg.m", "twice", [1, 2])
    with pytest.raises(Failed, match="hangs"):
        v.call("time", "sleep", [60], timeout=0.5)
    assert v._copies == 1, "one box for all"
    assert v.call("m", "name", path="lib") == "of the workspace"


def test_a_box_that_cannot_stand_is_tried_once(v: Verification) -> None:
    """A workspace too large to be kept in memory costs one warm box, not one for each command."""
    (v.workspace / "large").write_bytes(bytes(33 << 20))
    assert [v.python(["-c", "print(1)"]).stdout for _ in range(2)] == [b"1\n"] * 2
    assert v._copies == 3


def test_other_words_go_to_a_box_of_their_own(v: Verification) -> None:
    """Options of Python's own, folders and archives are run as Python runs them."""
    assert v.python(["-W", "error", "-c", "import warnings; warnings.warn('x')"]).status == 1
    assert v.python(["pkg"]).stdout == v.run(["python3", "pkg"]).stdout != b""


def test_what_the_machine_runs_at_every_start_does_not_run(v: Verification) -> None:
    """No .pth file of this machine is read; its packages import as ever."""
    paths = v.python(["-c", "import sys; print('\\n'.join(sys.path))"]).text.splitlines()
    plain = v.run(["python3", "-c", "import sys; print('\\n'.join(sys.path))"]).text.splitlines()
    assert paths == plain
    folders = [path for path in paths if path.startswith(sys.base_prefix) and "packages" in path]
    assert folders == [str(path) for path in map(Path, folders) if path.is_dir()]
