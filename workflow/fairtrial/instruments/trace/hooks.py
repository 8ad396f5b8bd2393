"""Calls the hook of an ended command (it captures the tree) and only then lets its shim go."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from collections.abc import Callable

from fairtrial.instruments.trace.records import Record

Hook = Callable[[str], str | None]  # span -> tree id


class Worker:
    """One thread, in the order the commands ended. A hook that fails is counted, never raised."""

    def __init__(self, hook: Hook) -> None:
        self.failed = 0
        self._hook = hook
        self._queue: queue.SimpleQueue[tuple[Record, socket.socket] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._loop, name="trace-hooks", daemon=True)
        self._thread.start()

    def put(self, record: Record, link: socket.socket) -> None:
        """The command of `record` ended; `link` is answered and closed here."""
        self._queue.put((record, link))

    def close(self) -> None:
        """Finish what is queued."""
        self._queue.put(None)
        self._thread.join(timeout=60)

    def _loop(self) -> None:
        while (item := self._queue.get()) is not None:
            record, link = item
            try:
                record.line["snapshot"] = self._hook(record.span)
            except Exception:
                self.failed += 1
            with contextlib.suppress(OSError):
                link.send(b"k", socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
            link.close()
