"""The system-call filter, run by a small interpreter of its instructions."""

from __future__ import annotations

import struct

import pytest
from fairtrial.instruments.sandbox import seccomp
from hypothesis import given
from hypothesis import strategies as st

ALLOW, ENOSYS, EPERM = 0x7FFF0000, 0x00050026, 0x00050001
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
MACHINES = pytest.mark.parametrize("machine", sorted(ARCH))


def decide(program: bytes, architecture: int, number: int) -> int:
    """What the filter says to a call."""
    data = struct.pack("<IIQ", number, architecture, 0)
    accumulator = counter = 0
    while True:
        code, yes, no, constant = struct.unpack_from("<HBBI", program, 8 * counter)
        counter += 1
        if code == 0x20:
            accumulator = struct.unpack_from("<I", data, constant)[0]
        elif code == 0x15:
            counter += yes if accumulator == constant else no
        elif code == 0x35:
            counter += yes if accumulator >= constant else no
        else:
            assert code == 0x06
            return constant


@MACHINES
@given(number=st.integers(0, 600))
def test_only_the_listed_calls_are_refused(machine, number):
    """Of all numbers below 600, exactly the listed ones give EPERM and the others pass."""
    listed = set(seccomp._REFUSED[machine].values())
    assert decide(seccomp.program(machine), ARCH[machine], number) == (EPERM if number in listed else ALLOW)


@MACHINES
def test_each_listed_call_is_refused(machine):
    """None of the list is missed, the first and the last included."""
    program = seccomp.program(machine)
    assert {decide(program, ARCH[machine], n) for n in seccomp._REFUSED[machine].values()} == {EPERM}


@MACHINES
@given(architecture=st.integers(0, 2**32 - 1), number=st.integers(0, 600))
def test_foreign_architectures_do_not_exist(machine, architecture, number):
    """A 32-bit call on a 64-bit kernel is no way around the filter."""
    expected = ENOSYS if architecture != ARCH[machine] else None
    assert expected in (None, decide(seccomp.program(machine), architecture, number))


@given(number=st.integers(0x40000000, 2**32 - 1))
def test_x32_does_not_exist(number):
    """Nor are the x32 numbers."""
    assert decide(seccomp.program("x86_64"), ARCH["x86_64"], number) == ENOSYS


def test_other_processors_have_no_filter():
    """On a processor nobody wrote a list for, there is no filter rather than a wrong one."""
    assert seccomp.program("riscv64") == b""
    assert seccomp.refused_calls("riscv64") == {}
