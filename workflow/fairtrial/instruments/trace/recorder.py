"""The recorder: a thread outside the box that shims report to. The agent can neither delete nor rewrite what it holds.

A sender counts as proven when the kernel says that the connecting process runs the shim. Captured output goes
to files only the recorder owns. Everything an agent could flood is capped; what is left out is counted.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable
from pathlib import Path

from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import Json
from fairtrial.instruments.trace import hooks, wire
from fairtrial.instruments.trace.records import Caps, Record, Records

SILENT_SECONDS = 2.0  # a connection that says nothing for so long is dropped
MAIN_WAIT_SECONDS = 0.5  # how long an answer waits for the main pid to be known
MOST_CONNECTIONS = 400
MOST_STRANGERS = 32

Proof = Callable[[int], bool]


@lean
class Caller:
    """One connection and what is known of who is at its other end."""

    link: socket.socket
    pid: int
    proven: bool
    since: float
    record: Record | None = None
    answered: bool = False


class Recorder:
    """Listens on `path` from start() until close(), which gives the merged lines."""

    def __init__(self, path: Path, folder: Path, proof: Proof, caps: Caps, on_end: hooks.Hook | None = None) -> None:
        self.records = Records(folder, caps)
        self.dropped = 0
        self.main_runs = 0
        self._proof = proof
        self._main: int | None = None
        self.opened_ns = time.monotonic_ns()
        self._callers: dict[int, Caller] = {}
        self._unanswered: list[Caller] = []
        self._hooks = hooks.Worker(on_end) if on_end else None
        self._listener = _listen(path)
        self._wake, self._woken = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._closing = False
        self._thread = threading.Thread(target=self._loop, name="trace-recorder", daemon=True)
        self._thread.start()

    def set_main(self, pid: int) -> None:
        """The host's number of the agent program's main process."""
        self._main = pid
        self._wake.send(b".")

    def close(self) -> None:
        """Take what is still queued, end the thread. Nothing of the attempt is alive any more."""
        self._closing = True
        self._wake.send(b".")
        self._thread.join(timeout=10)
        if self._hooks:
            self._hooks.close()
        for end in (self._listener, self._wake, self._woken):
            end.close()
        self._selector.close()
        self.records.close(self._main)

    def counts(self) -> Json:
        """What evidence tells about the recording."""
        seen = self.records
        return {
            "records": len(seen.lines), "refused": sum(r.line["refused"] for r in seen.lines), "dropped": self.dropped,
            "unproven": seen.unproven, "span_mismatch": seen.span_mismatch, "cut_arguments": seen.cut_arguments,
            "capture_bytes": seen.capture_bytes, "capture_full": seen.capture_full, "main_runs": self.main_runs,
            "hook_failures": self._hooks.failed if self._hooks else 0,
        }  # fmt: skip

    def _loop(self) -> None:
        while True:
            busy = self._selector.select(0.0 if self._closing else 0.2)
            for key, _ in busy:
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj is self._woken:
                    self._woken.recv(64)
                else:
                    self._receive(self._callers[key.fd])
            self._answer_late()
            self._drop_silent()
            if self._closing and not busy:
                break
        for caller in list(self._callers.values()):
            self._drop(caller)

    def _accept(self) -> None:
        try:
            link, _ = self._listener.accept()
        except OSError:
            return
        pid = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        proven = self._proof(pid)
        strangers = sum(not c.proven for c in self._callers.values())
        if len(self._callers) >= MOST_CONNECTIONS or (not proven and strangers >= MOST_STRANGERS):
            self.dropped += 1
            link.close()
            return
        link.setblocking(False)
        self._callers[link.fileno()] = Caller(link, pid, proven, time.monotonic())
        self._selector.register(link, selectors.EVENT_READ)
        self._receive(self._callers[link.fileno()])

    def _receive(self, caller: Caller) -> None:
        while True:
            try:
                message = caller.link.recv(wire.MESSAGE)
            except BlockingIOError:
                return
            except OSError:
                message = b""
            if not message:
                self._drop(caller)
                return
            try:
                finished = self._take(caller, message)
            except (ValueError, OverflowError):
                self.dropped += 1
                self._drop(caller)
                return
            if finished:
                return

    def _take(self, caller: Caller, message: bytes) -> bool:
        """One message; True when the connection is done with."""
        if caller.record is None:
            start = wire.read_start(message)
            lives = caller.proven and self._proof(caller.pid) and not _hung_up(caller.link)
            caller.record = self.records.begin(start, caller.pid, lives, self._main)
            if caller.record is None:
                self.dropped += 1
            self._answer(caller)
        elif message[:1] == b"E":
            self.records.finish(caller.record, wire.read_end(message))
            return self._ended(caller)
        else:
            self.records.more(caller.record, message[:1], message[1:])
        return caller.link.fileno() < 0

    def _answer(self, caller: Caller) -> None:
        record = caller.record
        if record and record.proven and self._main is None and not self._waited(caller):
            self._unanswered.append(caller)
            return
        byte = b"k"
        if record and record.proven and caller.pid == self._main and record.interpreter:
            self.records.forget(record)
            self.main_runs += 1
            byte, caller.record = b"x", None
        elif record and record.proven and self._hooks and not record.nested:
            byte = b"w"
        _send(caller.link, byte)
        caller.answered = True
        if byte == b"x":
            self._drop(caller)

    def _waited(self, caller: Caller) -> bool:
        return time.monotonic() - caller.since > MAIN_WAIT_SECONDS

    def _answer_late(self) -> None:
        if not self._unanswered:
            return
        waiting, self._unanswered = self._unanswered, []
        for caller in waiting:
            if caller.link.fileno() >= 0:
                self._answer(caller)

    def _ended(self, caller: Caller) -> bool:
        if self._hooks is None or caller.record is None or not caller.record.proven:
            self._drop(caller)
            return True
        self._forget(caller)
        self._hooks.put(caller.record, caller.link)
        return True

    def _drop_silent(self) -> None:
        now = time.monotonic()
        for caller in list(self._callers.values()):
            if caller.record is None and not caller.answered and now - caller.since > SILENT_SECONDS:
                self.dropped += 1
                self._drop(caller)

    def _forget(self, caller: Caller) -> None:
        if self._callers.pop(caller.link.fileno(), None):
            self._selector.unregister(caller.link)

    def _drop(self, caller: Caller) -> None:
        if caller.link.fileno() < 0:
            return
        if caller.record and not caller.answered:
            _send(caller.link, b"k")
        self._forget(caller)
        caller.link.close()
        if caller.record:
            self.records.left(caller.record)


def _send(link: socket.socket, byte: bytes) -> None:
    with contextlib.suppress(OSError):
        link.send(byte, socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)


def _hung_up(link: socket.socket) -> bool:
    """The other end is closed already: whoever sent this did not wait for the answer, as a shim does."""
    try:
        return link.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _listen(path: Path) -> socket.socket:
    """Bind through a descriptor of the folder: a socket's path may not exceed 107 bytes."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
    path.chmod(0o666)
    listener.listen(1024)
    listener.setblocking(False)
    return listener
