"""The loop that reads a boxed process's output, keeps its budget and sees to its end."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Callable

from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import Budget
from fairtrial.instruments.sandbox import processes
from fairtrial.instruments.sandbox.started import Ends, Started
from fairtrial.instruments.sandbox.streams import CHUNK, LineSink, Sink

_TICK = 0.2  # seconds between looks at what has no descriptor
_DRAIN = 2.0  # seconds for what is left in the buffers when nothing that could write is alive
_SEND = 1 << 16


@lean
class Told:
    """What the loop saw; nanoseconds of the monotonic clock."""

    started_ns: int
    ended_ns: int = 0
    timed_out: bool = False
    lingered: bool = False
    interrupted: bool = False
    stopped_by: str | None = None
    survivors: int = 0
    unstarted: bool = False


class Watch:
    """One started process, its streams and its budget."""

    def __init__(
        self, started: Started, ends: Ends, sinks: tuple[Sink, Sink], budget: Budget, *, stdin: bytes,
        stop: Callable[[], str | None], interrupted: Callable[[], bool], wake: int | None,
    ) -> None:  # fmt: skip
        self._started = started
        self._ends = ends
        self._stdin = memoryview(stdin)
        self._sinks = dict(zip(ends.near[1:], sinks, strict=True))
        self._lines = sinks[0] if isinstance(sinks[0], LineSink) else None
        self._budget = budget
        self._stop = stop
        self._interrupted = interrupted
        self._wake = wake
        self._selector = selectors.DefaultSelector()
        self._kill_at: float | None = None
        self._running = True

    def run(self, clock_ns: int) -> Told:
        """Watch a released process until nothing of it is alive; `clock_ns` is when it was released."""
        told = Told(clock_ns)
        self._register()
        try:
            while self._running:
                self._once(told)
            told.survivors = self._started.end()
            told.ended_ns = told.ended_ns or time.monotonic_ns()
            self._drain(told)
        finally:
            self._started.end()
            self._selector.close()
        return told

    def _register(self) -> None:
        for fd in self._sinks:
            self._selector.register(fd, selectors.EVENT_READ, self._read)
        if self._started.done_fd >= 0:
            self._selector.register(self._started.done_fd, selectors.EVENT_READ, self._done)
        if self._wake is not None:
            self._selector.register(self._wake, selectors.EVENT_READ, self._woken)
        self._selector.register(self._ends.near[0], selectors.EVENT_WRITE, self._write)

    def _once(self, told: Told) -> None:
        for key, _ in self._selector.select(self._pause(told)):
            key.data(key.fd, told)
        if not self._running:
            return
        if self._started.done_fd < 0 and not processes.alive(self._started.main):
            self._done(-1, told)  # a kernel without pidfds
            return
        now = time.monotonic()
        if self._kill_at is not None:
            self._running = now < self._kill_at
        elif self._must_stop(told, now):
            self._started.send(signal.SIGTERM)
            self._kill_at = now + self._budget.grace_seconds

    def _final(self) -> float | None:
        final = self._lines.final_ns if self._lines else None
        return None if final is None else final / 1e9

    def _deadline(self, told: Told) -> float:
        """When the budget ends: after the final event only the linger time counts."""
        begun, final = told.started_ns / 1e9, self._final()
        return begun + (self._budget.wall_seconds if final is None else final + self._budget.linger_seconds)

    def _pause(self, told: Told) -> float:
        until = self._kill_at if self._kill_at is not None else self._deadline(told)
        return max(0.0, min(_TICK, until - time.monotonic()))

    def _must_stop(self, told: Told, now: float) -> bool:
        if self._interrupted():
            told.interrupted = True
        elif now >= self._deadline(told):
            told.lingered = self._final() is not None
            told.timed_out = not told.lingered
        elif (reason := self._stop()) is not None:
            told.stopped_by = reason
        else:
            return False
        return True

    def _read(self, fd: int, told: Told) -> None:
        at_ns = (told.ended_ns or time.monotonic_ns()) - told.started_ns
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._sinks[fd].feed(data, at_ns)
        else:
            self._sinks[fd].finish(at_ns)
            self._selector.unregister(fd)

    def _write(self, fd: int, told: Told) -> None:
        try:
            while self._stdin:
                self._stdin = self._stdin[os.write(fd, self._stdin[:_SEND]) :]
        except BlockingIOError:
            return
        except OSError:
            pass  # it does not want to read
        self._selector.unregister(fd)
        os.close(fd)  # end of input; a socket pair's unread rest stays readable
        self._ends.near.remove(fd)

    def _done(self, fd: int, told: Told) -> None:
        told.ended_ns = time.monotonic_ns()
        self._running = False

    def _woken(self, fd: int, told: Told) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(fd, 64)

    def _drain(self, told: Told) -> None:
        """Read what is left; bounded, for a process nobody could end may still hold the other side."""
        for key in list(self._selector.get_map().values()):
            if key.fd not in self._sinks:
                self._selector.unregister(key.fd)
        deadline = time.monotonic() + _DRAIN
        while self._selector.get_map() and time.monotonic() < deadline:
            for key, _ in self._selector.select(0.05):
                key.data(key.fd, told)
        for key in list(self._selector.get_map().values()):
            self._sinks[key.fd].finish(told.ended_ns - told.started_ns)
