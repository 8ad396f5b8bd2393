"""An agent program that the system would not start: a fault with program and reason, never a result.

Decided by what started it and by the program's own file. What an agent prints or how it exits decides nothing.
"""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import Box, FaultKind, ProcessReport

_ELF = b"\x7fELF"
_HEADER = 20  # bytes of an ELF file up to and with the machine it is for
_SHELL_REFUSES = (2, 126, 127)  # a shell that was given a program to read as its script


def reason(box: Box, report: ProcessReport) -> str | None:
    """Why nothing of the program ran; None when it did."""
    if report.unstarted is not None or report.isolation["backend"] != "bwrap":
        return report.unstarted
    # execvp of the C library, which bwrap uses, hands what the kernel refuses to /bin/sh.
    foreign = report.exit_status in _SHELL_REFUSES and is_foreign(_head(program_of(box)))
    return os.strerror(errno.ENOEXEC) if foreign else None


def is_foreign(head: bytes) -> bool:
    """Is this the begin of an ELF program for another machine than this one's Python? No for anything but ELF."""
    own = _head(Path(sys.executable))
    if not head.startswith(_ELF) or not own.startswith(_ELF):
        return False
    return (head[4:6], head[18:_HEADER]) != (own[4:6], own[18:_HEADER])


def program_of(box: Box) -> Path:
    """The file of the agent program on this machine, as far as its path tells."""
    program = Path(box.argv[0])
    for bind in box.binds:
        if program.is_relative_to(bind.target):
            return bind.source / program.relative_to(bind.target)
    return program


def fault(box: Box, said: str) -> Fault:
    """The fault: which program, the system's reason, and what its first line asks for."""
    first = _head(program_of(box), 256).split(b"\n")[0].decode("utf-8", "replace")
    asks = f"; its first line is {first!r}: is that there, and shown in the box?" if first.startswith("#!") else ""
    kind: FaultKind = "spawn" if os.strerror(errno.E2BIG) in said else "cli_missing"
    return Fault(kind, f"{box.argv[0]} could not be started: {said}{asks}")


def _head(path: Path, size: int = _HEADER) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError:
        return b""
