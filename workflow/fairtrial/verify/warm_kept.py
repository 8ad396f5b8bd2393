"""The workspace in a warm box: kept in memory, changed by one command, put back for the next. See warm_inside.py.

Its text stands before that of warm_inside.py in the program of a `python3 -c`.
"""

import contextlib
import os
import stat
import time
from typing import Any

ROOM = "/task"
MOST_BYTES = 32 << 20  # of a workspace that is kept in memory
UNFIT = 5  # an exit status
COARSE = 5  # CLOCK_REALTIME_COARSE, which files are dated by


def mark(path: str) -> tuple[Any, ...]:
    """What differs when a file was written to, replaced or changed in mode; of a folder, mode and attributes."""
    facts = os.lstat(path)
    if stat.S_ISDIR(facts.st_mode):
        return (facts.st_mode, attributes(path))
    return (facts.st_mode, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


def attributes(path: str) -> tuple[str, ...]:
    """Names of a folder's extended attributes, access lists among them."""
    with contextlib.suppress(OSError):
        return tuple(os.listxattr(path))
    return ()


def entries(folder: str) -> list[str]:
    """Every path below a folder, parents first; a folder that was made unreadable is made readable."""
    found = []
    if not os.access(folder, os.R_OK | os.X_OK):
        os.chmod(folder, 0o700)
    for path in [f"{folder}/{name}" for name in os.listdir(folder)]:
        found.append(path)
        if stat.S_ISDIR(os.lstat(path).st_mode):
            found += entries(path)
    return found


def discard(path: str) -> None:
    """Delete a file or a folder with everything in it; nothing where it is gone already."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            os.unlink(path)
            return
        os.chmod(path, 0o700)
        for name in os.listdir(path):
            discard(f"{path}/{name}")
        os.rmdir(path)


class Kept:
    """The workspace as it was before any product code ran."""

    def __init__(self) -> None:
        self.marks: dict[str, tuple[Any, ...]] = {}
        self.contents: dict[str, tuple[bytes, int]] = {}
        self.mode = stat.S_IMODE(os.lstat(ROOM).st_mode)
        left = MOST_BYTES
        for path in entries(ROOM):
            facts = os.lstat(path)
            content = os.fsencode(os.readlink(path)) if stat.S_ISLNK(facts.st_mode) else b""
            if stat.S_ISREG(facts.st_mode):
                left -= facts.st_size
                if left < 0:
                    os._exit(UNFIT)
                with open(path, "rb") as stream:
                    content = stream.read()
            self.contents[path] = (content, facts.st_mtime_ns)
            self.marks[path] = mark(path)

    def restore(self) -> None:
        """Put back what differs."""
        os.chmod(ROOM, 0o700)
        there = set()
        for path in entries(ROOM):
            with contextlib.suppress(FileNotFoundError):  # below a folder that was discarded
                now, was = mark(path), self.marks.get(path)
                if now != was and was and stat.S_ISDIR(now[0]) and stat.S_ISDIR(was[0]) and now[1] == was[1]:
                    os.chmod(path, stat.S_IMODE(was[0]))
                elif now != was:
                    discard(path)
                    continue
                there.add(path)
        for path in self.marks:
            if path not in there:
                self.lay(path)
        os.chmod(ROOM, self.mode)
        laid = time.clock_gettime_ns(COARSE)
        while len(there) < len(self.marks) and time.clock_gettime_ns(COARSE) == laid:
            time.sleep(0.001)  # until a write cannot have the date of what was laid

    def lay(self, path: str) -> None:
        """Make one path what it was."""
        (content, written), mode = self.contents[path], self.marks[path][0]
        if stat.S_ISDIR(mode):
            os.mkdir(path)
        elif stat.S_ISLNK(mode):
            os.symlink(os.fsdecode(content), path)
        else:
            with open(path, "wb") as stream:
                stream.write(content)
            os.utime(path, ns=(written, written))
        if not stat.S_ISLNK(mode):
            os.chmod(path, stat.S_IMODE(mode))
        self.marks[path] = mark(path)


def overlay(files: dict[str, str]) -> None:
    """Lay the files of one command over the workspace."""
    for name, content in files.items():
        goal = ROOM
        for part in [part for part in name.split("/")[:-1] if part not in ("", ".")]:
            goal = f"{goal}/{part}"
            if os.path.lexists(goal) and not stat.S_ISDIR(os.lstat(goal).st_mode):
                os.unlink(goal)
            with contextlib.suppress(FileExistsError):
                os.mkdir(goal)
        goal = f"{goal}/{name.rpartition('/')[2]}"
        discard(goal)
        with open(goal, "wb") as stream:
            stream.write(content.encode("latin-1"))
