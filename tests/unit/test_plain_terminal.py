"""What agents and providers say reaches a terminal as text only (O30)."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from fairtrial.capture.spend import live
from fairtrial.contracts.plain import plain
from fairtrial.contracts.records import dump
from fairtrial.paths import Results
from hypothesis import given
from hypothesis import strategies as st

from tests import fabricate

NAME = "s/t/h/m/0123456789ab/r1"
HOSTILE = "a\x1b[2J\x9b31m\u202eb\x07\r\udc9b"


@given(st.text())
def test_no_control_character_is_left(text: str) -> None:
    """Everything but printable characters, newlines and tabs is spelled out; plain text is as it was."""
    shown = plain(text)
    assert all(c.isprintable() or c in "\n\t" for c in shown)
    shown.encode()  # no lone surrogate either
    if all(c.isprintable() or c in "\n\t" for c in text):
        assert shown == text


def test_a_faults_message_is_text_in_what_a_run_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A provider's error message cannot clear the screen."""
    results = Results(tmp_path)
    said = {"invocation": "i", "harness": "h", "model": "m", "kind": "auth", "message": HOSTILE}
    dump(results.faults(NAME) / "x" / "fault.json", said)
    for line in live.what_failed(results, "i"):
        live._say(line)
    shown = capsys.readouterr().err
    assert "a\\x1b[2J\\x9b31m\\u202eb\\x07\\r" in shown
    assert "\x1b" not in shown


def test_tail_gives_a_person_text_and_a_pipe_the_very_bytes(tmp_path: Path) -> None:
    """Escape sequences of an agent are spelled out on a terminal only."""
    attempt = Results(tmp_path).attempt(NAME)
    attempt.folder.mkdir(parents=True)
    said = "x\x1b]0;title\x07\u202ey\n".encode() + b"\xff\n"
    (attempt.folder / "agent-stdout.txt").write_bytes(said)
    command = [sys.executable, "-m", "fairtrial", "tail", NAME, "--results", str(tmp_path)]
    assert subprocess.run(command, capture_output=True, check=True).stdout == said
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other side was closed
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    assert process.wait(30) == 0
    assert shown.replace(b"\r", b"") == b"x\\x1b]0;title\\x07\\u202ey\n\\xff\n"


def test_show_survives_a_torn_trace(tmp_path: Path) -> None:
    """Half a line at the end of trace.jsonl costs that line only."""
    from fairtrial.upkeep import show

    root = tmp_path / "results"
    fabricate.tree(root, tasks=1, repetitions=1, arms=fabricate.ARMS_3X2[:1])
    [attempt] = Results(root).attempts()
    with (attempt.folder / "trace.jsonl").open("ab") as stream:
        stream.write(b'{"schema_version": 3, "sp')
    assert "commands" in show.text(attempt)
