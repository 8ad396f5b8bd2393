"""Finding, counting and ending processes through /proc; `ps` where there is none."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from pathlib import Path


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - called in a tight loop
            with open(f"/proc/{pid}/task/{task}/children", "rb") as file:  # noqa: PTH123
                found += [int(word) for word in file.read().split()]
    except OSError:
        return found
    return found


def first_child(pid: int) -> int | None:
    """The oldest child of `pid`'s main thread, None where it has none (any more)."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:  # noqa: PTH123
            words = file.read().split()
    except OSError:
        return None
    return int(words[0]) if words else None


def _stat(pid: int) -> tuple[str, int, int] | None:
    """State letter, parent and session."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return words[0].decode(), int(words[1]), int(words[3])


def session(pid: int) -> int | None:
    """The session of `pid`."""
    found = _stat(pid)
    return found[2] if found else None


def alive(pid: int) -> bool:
    """Whether `pid` runs; a zombie has ended."""
    if sys.platform == "linux":
        found = _stat(pid)
        return found is not None and found[0] not in "ZX"
    with contextlib.suppress(OSError):
        os.kill(pid, 0)
        return True
    return False


def children(pid: int) -> set[int]:
    """Direct children of `pid`, zombies included."""
    return set(_parents().get(pid, ())) if not Path(f"/proc/{pid}/task").exists() else set(_children(pid))


def _parents() -> dict[int, list[int]]:
    table: dict[int, list[int]] = {}
    if sys.platform == "linux":
        for entry in os.listdir("/proc"):  # noqa: PTH208
            found = _stat(int(entry)) if entry.isdigit() else None
            if found:
                table.setdefault(found[1], []).append(int(entry))
        return table
    import subprocess

    listed = subprocess.run(["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        pid, parent = line.split()
        table.setdefault(int(parent), []).append(int(pid))
    return table


def descendants(pid: int) -> set[int]:
    """All living processes below `pid`, without it."""
    by_children = Path(f"/proc/{pid}/task/{pid}/children").exists()
    table = {} if by_children else _parents()
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        current = waiting.pop()
        for child in _children(current) if by_children else table.get(current, ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return {one for one in found if alive(one)}


def send(pid: int, number: int) -> None:
    """A signal; that the process has gone is fine."""
    if pid > 0:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def kill_below(pid: int, spare: set[int], seconds: float = 5.0) -> set[int]:
    """End everything below `pid` and return what was found alive (without `spare`, which is ended too).

    Everything is stopped before anything is killed: a respawner that is killed first is replaced faster than
    /proc can be read (19 s measured), a stopped one starts nothing.
    """
    seen: set[int] = set()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        stopped: set[int] = set()
        while fresh := descendants(pid) - stopped:
            for one in fresh:
                send(one, signal.SIGSTOP)
            stopped |= fresh
        if not stopped:
            break
        seen |= stopped
        for one in stopped:
            send(one, signal.SIGKILL)
        time.sleep(0.005)
    return seen - spare


def pidfd(pid: int) -> int | None:
    """A descriptor that becomes readable when `pid` ends; None where the kernel is too old or it has gone."""
    opener = getattr(os, "pidfd_open", None)
    if opener is None or pid <= 0:
        return None
    try:
        return int(opener(pid))
    except OSError:
        return None


def wait_gone(pid: int, fd: int | None, seconds: float) -> bool:
    """Wait until `pid` has ended (a zombie counts); False when it has not within `seconds`."""
    if fd is not None:
        return bool(select.select([fd], [], [], seconds)[0])
    deadline = time.monotonic() + seconds
    while alive(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def reap(pid: int) -> None:
    """Take the wait status of `pid` if it became our child."""
    with contextlib.suppress(OSError):
        os.waitpid(pid, os.WNOHANG)
