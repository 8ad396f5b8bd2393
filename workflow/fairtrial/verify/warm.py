"""A box with a started Python in it that forks a child for each command: a fifth of what a box and a start cost each.

`warm_inside.py` is what runs in there, and it is believed no more than the product is: whatever does not look like an
answer within the time is a command that ended without one.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairtrial.verify.blackbox import KEEP_BYTES, Result, end

START_SECONDS = 20.0
PATIENCE = 3.0  # seconds beyond a command's own limit until the box counts as hung
KILLED = -9
_HEAD_BYTES = 4096
_INSIDE = tuple(Path(__file__).with_name(name) for name in ("warm_product.py", "warm_kept.py", "warm_inside.py"))


class Silent(Exception):
    """No answer, or none that can be read: the box is of no use any more. `late`: the time was up."""

    def __init__(self, late: bool) -> None:
        super().__init__()
        self.late = late


class WarmPython:
    """One box; `folder` becomes its workspace. `ready`: it can be asked; `stood`: it was ready at its start.

    One socket pair leads to it: unlike a pipe it cannot be opened a second time through /proc/PID/fd, so nothing the
    product runs reads what is asked later or answers in the place of what forked it.
    """

    def __init__(self, boxed: Sequence[str], python: str, folder: Path) -> None:
        self.ready = False
        self._child: subprocess.Popen[bytes] | None = None
        self._read = bytearray()
        self._channel, inner = socket.socketpair()
        self._channel.setblocking(False)
        argv = [*boxed, python, "-c", "".join(path.read_text(encoding="utf-8") for path in _INSIDE)]
        with contextlib.suppress(OSError, Silent):
            with inner:  # stderr too, for Python looks at its streams' kind but once
                fd = inner.fileno()
                self._child = subprocess.Popen(
                    argv, stdin=fd, stdout=fd, stderr=fd, cwd=folder, env={}, start_new_session=True
                )
            self.ready = self._head(time.monotonic() + START_SECONDS) == {"ready": True}
        self.stood = self.ready
        if not self.ready:
            self.close()

    def run(
        self, argv: Sequence[str], *, files: Mapping[str, bytes | str], stdin: bytes, seconds: float, gone: Path
    ) -> Result:
        """The words after `python3` as one command. `gone`: what to name as its folder, which is not kept.

        Where no answer came, the command counts as killed. `ready` is False from then on, as it is after an answer
        from a box that could not be put back to what it was.
        """
        nonce = os.urandom(16).hex()
        laid = {name: (c.encode() if isinstance(c, str) else c).decode("latin-1") for name, c in files.items()}
        ask = {"nonce": nonce, "argv": list(argv), "files": laid, "stdin": stdin.decode("latin-1")}
        body = json.dumps({**ask, "seconds": seconds, "keep": KEEP_BYTES}).encode()
        deadline = time.monotonic() + seconds + PATIENCE
        said = ("python3", *argv)
        try:
            self._write(b"%08x%b" % (len(body), body), deadline)
            head = self._head(deadline)
            if head.get("nonce") != nonce:
                raise Silent(False)
            out, err = (self._take(size, deadline) for size in _sizes(head))
        except Silent as silent:
            self.ready = False
            self.close()
            return Result(said, KILLED, b"", b"ended without an answer", silent.late, False, gone)
        if head.get("fit") is not True:
            self.ready = False
            self.close()
        status = head.get("status")
        whole = status if type(status) is int else KILLED
        return Result(said, whole, out, err, bool(head.get("timed_out")), bool(head.get("truncated")), gone)

    def close(self) -> None:
        """End the box: one that is idle ends by itself when nobody asks any more."""
        if self._child is not None:
            if self.ready:
                with contextlib.suppress(subprocess.TimeoutExpired, OSError):
                    self._channel.shutdown(socket.SHUT_WR)
                    self._child.wait(0.2)
            end(self._child)
        self._channel.close()
        self.ready, self._child = False, None

    def _write(self, data: bytes, deadline: float) -> None:
        fd, left = self._channel.fileno(), memoryview(data)
        while left:
            if not select.select([], [fd], [], max(0.0, deadline - time.monotonic()))[1]:
                raise Silent(True)
            try:
                left = left[os.write(fd, left[: 1 << 16]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise Silent(False) from None

    def _more(self, deadline: float) -> None:
        fd = self._channel.fileno()
        if not select.select([fd], [], [], max(0.0, deadline - time.monotonic()))[0]:
            raise Silent(True)
        try:
            piece = os.read(fd, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            raise Silent(False) from None
        if not piece:
            raise Silent(False)
        self._read += piece

    def _head(self, deadline: float) -> dict[str, Any]:
        while b"\n" not in self._read and len(self._read) < _HEAD_BYTES:
            self._more(deadline)
        line, newline, rest = self._read.partition(b"\n")
        self._read = rest
        try:
            head = json.loads(line) if newline and len(line) <= _HEAD_BYTES else None
        except (ValueError, RecursionError):
            head = None
        if not isinstance(head, dict):
            raise Silent(False)
        return head

    def _take(self, size: int, deadline: float) -> bytes:
        while len(self._read) < size:
            self._more(deadline)
        taken = bytes(self._read[:size])
        del self._read[:size]
        return taken


def _sizes(head: Mapping[str, Any]) -> list[int]:
    """The lengths of both streams; Silent for anything a driver would not say."""
    sizes = head.get("sizes")
    if type(sizes) is not list or len(sizes) != 2:
        raise Silent(False)
    if any(type(size) is not int or not 0 <= size <= KEEP_BYTES for size in sizes):
        raise Silent(False)
    return sizes
