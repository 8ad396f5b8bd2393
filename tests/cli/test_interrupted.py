"""Ctrl-C in `check` and `doctor`: they end soon, say so in one line and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

from fairtrial.instruments.endpoint.server import Server
from fairtrial.instruments.endpoint.service import Service

from tests.lab import make_task

SOON = 5.0  # seconds; 0.1 on an idle machine, and less than any wait that this is about


def interrupt(tmp_path: Path, words: list[str], ready: Callable[[str], bool]) -> tuple[int, str, float]:
    """Start the verb, send SIGINT to its group once `ready` says so of its output; (exit code, stderr, seconds)."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "FAIRTRIAL_MARK": str(tmp_path)}
    out, err = tmp_path / "out.txt", tmp_path / "err.txt"
    with out.open("w") as stdout, err.open("w") as stderr:
        child = subprocess.Popen(
            [sys.executable, "-m", "fairtrial", *words], stdout=stdout, stderr=stderr, env=environment, process_group=0,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - a job in the background ignores it
        )  # fmt: skip
    deadline = time.monotonic() + 60
    while not ready(out.read_text()) and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    began = time.monotonic()
    os.killpg(child.pid, signal.SIGINT)
    code = child.wait(60)
    assert list(temporary.iterdir()) == []
    return code, err.read_text(), time.monotonic() - began


def marked(word: str) -> list[int]:
    """Living processes with `word` in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def test_check_ends_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    """While two tasks are being judged and more wait: one line, status 130, no box, no folder, no later verdict."""
    nap = f"{time.time_ns() % 10**6 + 1000}.5"  # a command line that nothing else has
    for name in ("one", "two", "three", "four"):
        toml = make_task(tmp_path / "suites" / "tiny", name) / "task.toml"
        toml.write_text(toml.read_text().replace("test -s answer.txt", f"sleep {nap}"))
    words = ["check", "--tasks-dir", str(tmp_path / "suites"), "--jobs", "2", "tiny"]
    code, said, seconds = interrupt(tmp_path, words, lambda _: len(marked(f"sleep\0{nap}")) >= 2)
    assert (code, said, (tmp_path / "out.txt").read_text()) == (130, "fairtrial: interrupted\n", "")
    assert seconds < SOON
    deadline = time.monotonic() + SOON
    while marked(nap) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert marked(nap) == []


def test_doctor_ends_at_once(tmp_path: Path) -> None:
    """In its first moments, while the loopback endpoint is being started: one line, status 130."""
    code, said, seconds = interrupt(tmp_path, ["doctor", "harnesses"], lambda out: "harnesses:" in out)
    assert (code, said) == (130, "fairtrial: interrupted\n")
    assert seconds < SOON


class Idle:
    """A service that nobody asks."""

    refuse_connections: object = None

    async def handle(self, request: object) -> None:
        """Never called."""


def test_an_endpoint_whose_start_is_given_up_ends_at_once() -> None:
    """`end` is heard also by a thread that has not got as far as waiting for it."""
    server = Server(lambda: cast("Service", Idle()))
    began = time.monotonic()
    server._thread.start()
    server.end()
    assert not server._thread.is_alive()
    assert time.monotonic() - began < SOON
