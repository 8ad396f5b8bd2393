"""Messages no shim sends, by an agent that talks to the recorder itself: dropped, and nothing behind them stumbles."""

from __future__ import annotations

import pytest
from fairtrial.instruments.trace import wire

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
