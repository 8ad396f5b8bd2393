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
}
STATE = (
    "import os\n"
    "for top, _, names in sorted(os.walk('.')):\n"
    "    print(top, oct(os.stat(top).st_mode), *((n, oct(os.lstat(f'{top}/{n}').st_mode)) for n in sorted(names)))\n"
    "    print([open(f'{top}/{n}').read() for n in sorted(names)])\n"
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
    error = result.stderr.decode().replace("import runpy", "")
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
    """Lines on the channel of the process that forked it without the command's nonce are no answer."""
    forge = (
        "import os\nfor n in os.listdir(f'/proc/{os.getppid()}/fd'):\n"
        "    try: os.write(os.open(f'/proc/{os.getppid()}/fd/{n}', os.O_WRONLY | os.O_NONBLOCK), b'x' * 5000)\n"
        "    except OSError: pass\n"
    )
    result = v.python(["-c", forge], timeout=3)
    assert result.status != 0
    assert v.python(["-c", "print(3)"]).stdout == b"3\n"


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


def test_what_the_machine_runs_at_every_start_does_not_run(v: Verification) -> None:
    """No .pth file of this machine is read; its packages import as ever."""
    paths = v.python(["-c", "import sys; print('\\n'.join(sys.path))"]).text.splitlines()
    plain = v.run(["python3", "-c", "import sys; print('\\n'.join(sys.path))"]).text.splitlines()
    assert paths == plain
    folders = [path for path in paths if path.startswith(sys.base_prefix) and "packages" in path]
    assert folders == [str(path) for path in map(Path, folders) if path.is_dir()]
