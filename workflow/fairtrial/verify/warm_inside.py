"""In a box, as `python3 -c` with warm_product.py's text before this: forks a fresh child for each command it is asked.

The interpreter has started and read its libraries once, and imports nothing of the product itself. Between two
commands everything else in the box is killed, the workspace is put back to what it was and HOME and /tmp are emptied.
Product code can reach this process; by that it decides what its own commands seem to print, as it does anyway.

In: frames of eight hexadecimal digits and so many bytes of JSON, text as Latin-1: {"nonce", "argv", "files", "stdin",
"seconds", "keep"}. Out: a JSON line {"nonce", "status", "timed_out", "truncated", "sizes"}, then both streams' bytes.
"""

import contextlib
import gc
import json
import os
import select
import signal
import stat
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairtrial.verify.warm_product import become

ROOM = "/task"
BOX_ONLY = "/run/ft/bin"  # stands in every box and nowhere else
MOST_BYTES = 32 << 20  # of a workspace that is kept in memory
DRAIN_SECONDS, UNFIT, LEFT_OVER = 0.3, 5, 6  # the last two are exit statuses
FROM_SIGNAL = 128  # what a box adds to the number of the signal that ended its command


def mark(path: str) -> tuple[Any, ...]:
    """What differs when a file was written to, replaced or changed in mode; of a folder, its mode."""
    facts = os.lstat(path)
    if stat.S_ISDIR(facts.st_mode):
        return (facts.st_mode,)
    return (facts.st_mode, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


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
                if now != was and was is not None and stat.S_ISDIR(now[0]) and stat.S_ISDIR(was[0]):
                    os.chmod(path, stat.S_IMODE(was[0]))
                elif now != was:
                    discard(path)
                    continue
                there.add(path)
        for path in self.marks:
            if path not in there:
                self.lay(path)
        os.chmod(ROOM, self.mode)

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


def alone() -> None:
    """End everything else in the box but its first process; a box in which that fails is not used again."""
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
        left = {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1, os.getpid()}
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.001)
    os._exit(LEFT_OVER)


def watch(child: int, feed: int, streams: tuple[int, int], ask: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Feed stdin and collect both streams until the end, the deadline, or a left-over writer's bounded drain."""
    deadline, ended = time.monotonic() + ask["seconds"], 0.0
    kept, cut, left = {fd: bytearray() for fd in streams}, False, memoryview(ask["stdin"].encode("latin-1"))
    reading, writing, status = list(streams), [feed], None
    while reading or status is None:
        now = time.monotonic()
        if status is None:
            status, ended = status_of(child), now
        if (status is None and now >= deadline) or (status is not None and now - ended > DRAIN_SECONDS):
            break
        ready = select.select(reading, writing, [], 0.02 if reading else 0.002)
        for fd in (*ready[0], *ready[1]):
            if fd == feed:
                left = fed(feed, left)
                if not left:
                    os.close(writing.pop())
            elif data := os.read(fd, 1 << 16):
                cut = cut or len(data) > ask["keep"] - len(kept[fd])
                kept[fd] += data[: max(0, ask["keep"] - len(kept[fd]))]
            else:
                reading.remove(fd)
    for fd in (*streams, *writing):
        os.close(fd)
    if status is None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    how = {"status": -signal.SIGKILL if status is None else status, "timed_out": status is None, "truncated": cut}
    return how, [bytes(kept[fd]) for fd in streams]


def fed(feed: int, left: memoryview) -> memoryview:
    """What is left of stdin after another piece; nothing when nobody reads it any more."""
    try:
        return left[os.write(feed, left[: 1 << 12]) :] if left else left  # ready for one page, so never blocks
    except BrokenPipeError:
        return left[:0]


def status_of(child: int) -> int | None:
    """As a box says it; None while the child runs."""
    pid, status = os.waitpid(child, os.WNOHANG)
    if not pid:
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else FROM_SIGNAL - code


def start(ask: dict[str, Any]) -> tuple[int, int, tuple[int, int]]:
    """Fork: (0, ...) in the child, whose descriptors are its own three."""
    pipes = [os.pipe() for _ in range(3)]
    inner, outer = (pipes[0][0], pipes[1][1], pipes[2][1]), (pipes[0][1], pipes[1][0], pipes[2][0])
    child = os.fork()
    if child:
        for fd in inner:
            os.close(fd)
        return child, outer[0], outer[1:]
    os.setsid()
    for number, fd in enumerate(inner):
        os.dup2(fd, number)
    os.closerange(3, 256)
    os.chdir(ROOM)
    return 0, 0, (0, 0)


def receive(channel: int) -> dict[str, Any]:
    """The next frame; the end of the channel ends this process."""

    def exactly(size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = os.read(channel, size - len(data))
            if not piece:
                os._exit(0)
            data += piece
        return bytes(data)

    found: dict[str, Any] = json.loads(exactly(int(exactly(8), 16)))
    return found


def serve() -> list[str]:
    """Do as asked until the channel ends; in a child, return its words."""
    asked, answers = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    kept = Kept()
    gc.freeze()  # a child's collector, and warm_product.leave, look only at what the child made
    say(answers, {"ready": True}, [])
    while True:
        ask = receive(asked)
        overlay(ask["files"])
        child, feed, streams = start(ask)
        if not child:
            return list(ask["argv"])
        how, printed = watch(child, feed, streams, ask)
        alone()
        say(answers, {"nonce": ask["nonce"], **how, "sizes": [len(data) for data in printed]}, printed)
        kept.restore()
        for folder in {os.environ["HOME"], os.environ.get("TMPDIR", "/tmp"), "/dev/shm"}:  # noqa: S108
            for name in os.listdir(folder):
                discard(f"{folder}/{name}")


def say(channel: int, head: dict[str, Any], parts: list[bytes]) -> None:
    """Write one answer whole."""
    left = memoryview(b"".join([json.dumps(head).encode(), b"\n", *parts]))
    while left:
        left = left[os.write(channel, left) :]


if __name__ == "__main__":
    if os.getppid() != 1 or not os.path.isdir(BOX_ONLY):  # it kills every process it can see
        os._exit(UNFIT)
    become(serve())
