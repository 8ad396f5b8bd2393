"""In a box, as `python3 -c` after the texts of warm_product.py and warm_kept.py: forks a child for each command.

The interpreter has started and read its libraries once, and imports nothing of the product itself. Between two
commands everything else in the box is killed, the workspace is put back to what it was and HOME and /tmp are emptied.
A box that cannot be put back, or in which something stands that outlives processes, is not asked again. Product code
can stop or end this process, which costs its own command the answer.

In: frames of eight hexadecimal digits and so many bytes of JSON, text as Latin-1: {"nonce", "argv", "files", "stdin",
"seconds", "keep"}. Out: a JSON line {"nonce", "status", "timed_out", "truncated", "fit", "sizes"}, then
both streams' bytes.
"""

import contextlib
import gc
import json
import os
import resource
import select
import signal
import stat
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairtrial.verify.warm_kept import ROOM, UNFIT, Kept, attributes, discard, overlay
    from fairtrial.verify.warm_product import become

BOX_ONLY = "/run/ft/bin"  # stands in every box and nowhere else
DRAIN_SECONDS = 0.3
FROM_SIGNAL = 128  # what a box adds to the number of the signal that ended its command


def kill() -> None:
    """All else but the first process, at once: no list of processes is as fast as one that forks."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def alone() -> bool:
    """End everything else in the box but its first process; False where that fails."""
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
        kill()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if {int(name) for name in os.listdir("/proc") if name.isdigit()} <= {1, os.getpid()}:
            return True
        time.sleep(0.001)
    return False


class Around:
    """What commands find beside the workspace: folders to be emptied, what they inherit, what outlives processes."""

    def __init__(self) -> None:
        folders = {os.environ["HOME"], os.environ.get("TMPDIR", "/tmp"), "/tmp", "/dev/shm"}  # noqa: S108
        self.modes = {folder: stat.S_IMODE(os.lstat(folder).st_mode) for folder in folders}
        self.first = self.now()

    def now(self) -> list[Any]:
        """Limits, priority and processors of this process, System V objects, attributes of the folders."""
        found: list[Any] = [resource.getrlimit(number) for number in range(16)]  # all that Linux has
        found += [os.getpriority(os.PRIO_PROCESS, 0), os.sched_getaffinity(0), os.sched_getscheduler(0)]
        for name in ("shm", "sem", "msg"):
            with contextlib.suppress(FileNotFoundError), open(f"/proc/sysvipc/{name}", "rb") as stream:
                found.append(stream.read())
        return found + [attributes(folder) for folder in (ROOM, *sorted(self.modes))]

    def emptied(self) -> bool:
        """Empty the folders; False where something else is not as it was at first."""
        for folder, mode in self.modes.items():
            if stat.S_IMODE(os.lstat(folder).st_mode) != mode:
                os.chmod(folder, mode)
            for name in os.listdir(folder):
                discard(f"{folder}/{name}")
        return self.now() == self.first


def as_it_was(kept: Kept, around: Around) -> bool:
    """End and put back everything; False where the box is of no use any more."""
    try:
        if not alone():
            return False
        kept.restore()
        return around.emptied()
    except (OSError, RecursionError):
        return False


def watch(child: int, feed: int, streams: tuple[int, int], ask: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """Feed stdin and collect both streams until the end, the deadline, or a left-over writer's bounded drain."""
    deadline, ended = time.monotonic() + ask["seconds"], 0.0
    kept, cut, left = {fd: bytearray() for fd in streams}, False, memoryview(ask["stdin"].encode("latin-1"))
    reading, writing, status = list(streams), [feed], None
    while reading or status is None:
        now = time.monotonic()
        if status is None:
            status, ended = status_of(child), now
            if status is not None:
                kill()  # a box of its own would be gone, with whatever its other processes had still to print
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
    channel = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    kept, around = Kept(), Around()
    gc.freeze()  # a child's collector, and warm_product.leave, look only at what the child made
    say(channel, {"ready": True}, [])
    while True:
        ask = receive(channel)
        overlay(ask["files"])
        child, feed, streams = start(ask)
        if not child:
            return list(ask["argv"])
        how, printed = watch(child, feed, streams, ask)
        how["fit"] = as_it_was(kept, around)
        say(channel, {"nonce": ask["nonce"], **how, "sizes": [len(data) for data in printed]}, printed)


def say(channel: int, head: dict[str, Any], parts: list[bytes]) -> None:
    """Write one answer whole."""
    left = memoryview(b"".join([json.dumps(head).encode(), b"\n", *parts]))
    while left:
        left = left[os.write(channel, left) :]


if __name__ == "__main__":
    if os.getppid() != 1 or not os.path.isdir(BOX_ONLY):  # it kills every process it can see
        os._exit(UNFIT)
    become(serve())
