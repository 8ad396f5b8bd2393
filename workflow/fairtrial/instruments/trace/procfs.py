"""What the kernel says about a process, seen from outside the box: identity, parents, executables."""

from __future__ import annotations

import os
from pathlib import Path

from fairtrial.contracts.lean import lean

MOST_ANCESTORS = 16


@lean(frozen=True)
class Process:
    """One process as /proc/PID/stat has it; `born` tells a reused number from the old one."""

    pid: int
    name: str
    parent: int
    born: int


def look(pid: int) -> Process | None:
    """The process with this number now, or None."""
    try:
        raw = Path(f"/proc/{pid}/stat").read_bytes()
        name, rest = raw[raw.index(b"(") + 1 :].rsplit(b")", 1)
        field = rest.split()
        return Process(pid, name.decode("utf-8", "replace"), int(field[1]), int(field[19]))
    except (OSError, ValueError, IndexError):
        return None


def executable_id(pid: int) -> tuple[int, int] | None:
    """Device and inode of what the process runs; the same file has the same pair through every bind."""
    try:
        found = Path(f"/proc/{pid}/exe").stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def executable(process: Process) -> str:
    """The path of what it runs, as far as it can be read, else its name in brackets."""
    try:
        return str(Path(f"/proc/{process.pid}/exe").readlink()).removesuffix(" (deleted)")
    except OSError:
        return f"[{process.name}]"


def command_line(pid: int) -> list[bytes]:
    """The arguments the process was started with; [] when they cannot be read."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
    except OSError:
        return []


def without_program(pid: int) -> bool:
    """Whether it ended and is not reaped yet. Its state in stat would do, but is that of its first thread only.

    Both are asked: arguments are in place a moment after an exec has closed its files, and a process can hide its
    program from an ordinary user's eyes.
    """
    return not command_line(pid) and executable_id(pid) is None


def inside(pid: int, path: str) -> Path:
    """The file a process means by `path`. Absolute links are followed in its own root, not in ours. Raises OSError."""
    path = os.path.join(Path(f"/proc/{pid}/cwd").readlink(), path)  # noqa: PTH118 - an absolute path stays as it is
    for _ in range(10):
        here = Path(f"/proc/{pid}/root{path}")
        if not here.is_symlink():
            return here
        path = os.path.normpath(os.path.join(os.path.dirname(path), here.readlink()))  # noqa: PTH118, PTH120
    raise OSError("too many links")


def lineage(process: Process, main: int | None) -> list[Process]:
    """Its ancestors, nearest first, as far as the agent program's main process; never one outside the box."""
    found: list[Process] = []
    parent = process.parent
    while parent > 1 and parent != os.getpid() and len(found) < MOST_ANCESTORS:
        above = look(parent)
        if above is None:
            break
        found.append(above)
        if parent == main:
            return found
        parent = above.parent
    room = _room(process.pid)
    return [p for p in found if _room(p.pid) == room]


def _room(pid: int) -> str:
    """The PID namespace a process lives in; '' when it cannot be read."""
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""
