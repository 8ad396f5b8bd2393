"""Notice that a folder changed. Three ways, one protocol; the best that works here is taken.

inotify, by ctypes, on Linux: exact, and a watch is placed on each folder just before a walk lists it, so that nothing
is missed and nothing outside the workspace is ever watched. (watchfiles follows links when it starts: one link to
/usr in a workspace cost 4 s and 15,700 watches of the host, and importing it costs 70 ms against 3.) watchfiles
elsewhere. Polling where neither can be had: every wait is a change, and the walk finds out.
"""

from __future__ import annotations

import os
import select
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any, Protocol

DEBOUNCE = 0.1  # seconds: a change is reported this long after its first event at the latest
STEP = 0.02  # seconds without an event that end a burst earlier
_EVENT = struct.Struct("iIII")
# modify, attributes, moves, create, delete, the folder itself deleted or moved
_MASK = 0x002 | 0x004 | 0x040 | 0x080 | 0x100 | 0x200 | 0x400 | 0x800
_ONLY_FOLDERS = 0x01000000
_SELF = 0x400 | 0x800
_OVERFLOW, _GONE, _IS_FOLDER = 0x4000, 0x8000, 0x40000000


class Watcher(Protocol):
    """Says when to look again."""

    name: str

    def folder(self, descriptor: int, prefix: bytes) -> None:
        """A walk is about to list this folder; prefix ``b""`` or ``b"a/b/"``."""

    def wait(self, seconds: float) -> bool:
        """Block until a burst of changes is over, `wake` or the time is up; True when there may be changes."""

    def take(self) -> frozenset[bytes] | None:
        """Paths that changed since the last take; None: folders came or went, or it is not known. Never blocks."""

    def wake(self) -> None:
        """End a wait, from any thread."""

    def close(self) -> None:
        """Give everything back."""


class Inotify:
    """Linux's own notification, one watch per folder."""

    name = "inotify"

    def __init__(self, ignore: frozenset[str]) -> None:
        import ctypes

        self._libc = ctypes.CDLL(None, use_errno=True)
        self._file: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self._complete = True  # every folder is watched
        self._prefixes: dict[int, bytes] = {}
        self._paths: set[bytes] = set()
        self._everywhere = False
        self._ignore = frozenset(os.fsencode(name) for name in ignore)
        self._lock = threading.Lock()
        self._bell, self._ring = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._poll = select.poll()
        self._poll.register(self._file, select.POLLIN)
        self._poll.register(self._bell, select.POLLIN)

    def folder(self, descriptor: int, prefix: bytes) -> None:
        """Watch it; where the kernel's limit is reached every look is a whole one."""
        watch = self._libc.inotify_add_watch(self._file, b"/proc/self/fd/%d" % descriptor, _MASK | _ONLY_FOLDERS)
        if watch < 0:
            self._complete = False
        else:
            self._prefixes[watch] = prefix

    def wait(self, seconds: float) -> bool:
        """See Watcher."""
        limit = seconds if self._complete else min(seconds, DEBOUNCE)
        woken = any(file == self._bell for file, _ in self._poll.poll(max(0.0, limit) * 1000))
        if not woken and self._drain():
            first = time.monotonic()
            while time.monotonic() - first < DEBOUNCE:
                time.sleep(STEP)  # not a poll: a busy writer would wake it at every write
                if not self._drain():
                    break
        return bool(self._paths) or self._everywhere or not self._complete

    def take(self) -> frozenset[bytes] | None:
        """See Watcher."""
        self._drain()
        with self._lock:
            paths, everywhere = frozenset(self._paths), self._everywhere or not self._complete
            self._paths.clear()
            self._everywhere = False
        return None if everywhere else paths

    def _drain(self) -> bool:
        """Read what is queued; True when something of it counts."""
        found = False
        with self._lock:
            while True:
                try:
                    events = os.read(self._file, 1 << 16)
                except BlockingIOError:
                    return found
                found |= self._note(events)

    def _note(self, events: bytes) -> bool:
        offset, found = 0, False
        while offset < len(events):
            watch, mask, _, length = _EVENT.unpack_from(events, offset)
            offset += _EVENT.size + length
            name = events[offset - length : offset].rstrip(b"\0")
            if mask & _GONE:
                self._prefixes.pop(watch, None)
            elif not (mask & _IS_FOLDER and name in self._ignore):
                found = True
                if not name or mask & (_IS_FOLDER | _OVERFLOW | _SELF) or watch not in self._prefixes:
                    self._everywhere = True
                else:
                    self._paths.add(self._prefixes[watch] + name)
        return found

    def wake(self) -> None:
        """See Watcher."""
        os.write(self._ring, b"!")

    def close(self) -> None:
        """See Watcher."""
        for file in (self._file, self._bell, self._ring):
            os.close(file)


class Files:
    """The watchfiles package, for systems without inotify."""

    name = "watchfiles"

    def __init__(self, root: Path, ignore: frozenset[str]) -> None:
        from watchfiles._rust_notify import RustNotify  # `watch` would take over signal handling

        self._native: Any = RustNotify([str(root)], False, False, 50, True, False)
        self._ignore = ignore
        self._root = len(str(root))
        self._stop = threading.Event()
        self._changed = False

    def folder(self, descriptor: int, prefix: bytes) -> None:
        """Folders are found by the package itself."""

    def wait(self, seconds: float) -> bool:
        """See Watcher."""
        if self._stop.is_set():
            return self._changed
        found = self._native.watch(int(DEBOUNCE * 1000), int(STEP * 1000), max(1, int(seconds * 1000)), self._stop)
        if isinstance(found, set) and any(self._counts(path) for _, path in found):
            self._changed = True
        return self._changed

    def _counts(self, path: str) -> bool:
        return self._ignore.isdisjoint(path[self._root :].split("/"))

    def take(self) -> frozenset[bytes] | None:
        """See Watcher; events come late here, so there may always be a change anywhere."""
        self._changed = False
        return None

    def wake(self) -> None:
        """See Watcher."""
        self._stop.set()

    def close(self) -> None:
        """See Watcher."""
        self._native.close()


class Polling:
    """No notification at all: look every 100 ms."""

    name = "polling"

    def __init__(self) -> None:
        self._stop = threading.Event()

    def folder(self, descriptor: int, prefix: bytes) -> None:
        """Nothing to place."""

    def wait(self, seconds: float) -> bool:
        """See Watcher."""
        self._stop.wait(min(seconds, DEBOUNCE))
        return True

    def take(self) -> frozenset[bytes] | None:
        """See Watcher."""
        return None

    def wake(self) -> None:
        """See Watcher."""
        self._stop.set()

    def close(self) -> None:
        """See Watcher."""


def watcher_for(root: Path, ignore: frozenset[str]) -> Watcher:
    """The best one that works for this folder on this machine."""
    try:
        return Inotify(ignore) if sys.platform == "linux" else Files(root, ignore)
    except (ImportError, OSError):
        return Polling()
