"""Messages no shim sends, by an agent that talks to the recorder itself: dropped, and nothing behind them stumbles."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from fairtrial.instruments.trace import wire
from fairtrial.instruments.trace.records import Caps, Records

NUMBERS = (4, 6, 7, 8, 9, 10, 12, 14, 15)  # the places of numbers in a start message


def start(place: int | None = None, number: bytes = b"1") -> bytes:
    """A start message, with another number at one place."""
    fields = [b"S", b"c", b"span", b"", *[b"0"] * 12, b"/task", b"git\0status\0"]
    fields[5], fields[13] = b"git", b"oe"
    if place is not None:
        fields[place] = number
    return b"\0".join(fields)


@pytest.mark.parametrize("number", [b"9" * 400, b"-" + b"9" * 400, str(1 << 62).encode(), b"", b"1.5", b"\xff"])
def test_a_number_no_table_can_hold_is_no_start(number: bytes) -> None:
    """A time of 400 digits made grading end with an OverflowError, so that the attempt had no result."""
    assert wire.read_start(start()).command == "git"
    for place in NUMBERS:
        with pytest.raises(ValueError):
            wire.read_start(start(place, number))


@pytest.mark.parametrize("number", [b"9" * 400, str(-(1 << 62)).encode(), b"x"])
def test_nor_is_it_an_end(number: bytes) -> None:
    """The same of the message that ends a command."""
    fields = [b"E", *[b"0"] * 7, b""]
    assert wire.read_end(b"\0".join(fields)).exit_status == 0
    for place in range(1, 8):
        with pytest.raises(ValueError):
            wire.read_end(b"\0".join([*fields[:place], number, *fields[place + 1 :]]))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the command trace needs /proc")
def test_a_shim_that_was_killed_at_its_start_is_no_forger(tmp_path: Path) -> None:
    """Ended and not yet reaped it has a parent but no program: unproven, and no rule is said to be broken."""
    with subprocess.Popen(["true"]) as child, subprocess.Popen(["sleep", "9"]) as alive:
        while Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.01)
        records = Records(tmp_path, Caps())
        for process in (child, alive):
            records.begin(wire.read_start(start()), process.pid, False, None)
        records.close(os.getppid())
        alive.kill()
    assert [(r.line["proven"], r.line["parent_is_main"]) for r in records.lines] == [(False, None), (False, False)]
