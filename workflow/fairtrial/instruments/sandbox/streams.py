"""Where the agent's output goes: files with a cap, receipt times, the final event. Constant memory.

Lines end at b"\\n" and nowhere else: U+2028, a lone carriage return or a NUL are content.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from fairtrial.contracts.errors import Fault

CHUNK = 1 << 18
_LONGEST_LINE = 32 << 20  # bytes; a longer line is kept in the file but not shown to is_final_event
_MOST_TIMES = 1_000_000


def _write(file: BinaryIO, data: bytes) -> None:
    try:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Fault("disk", f"the disk is full: {problem}") from problem
        raise


class Sink:
    """Keeps the first `cap` bytes of a stream in `file` (unbuffered) and counts all of them."""

    def __init__(self, file: BinaryIO, cap: int) -> None:
        self.file = file
        self.cap = cap
        self.total = 0
        self.kept = 0

    def feed(self, data: bytes, at_ns: int) -> None:
        """Take a chunk received at `at_ns` after the start."""
        self.total += len(data)
        if self.kept < self.cap:
            self.keep(data[: self.cap - self.kept])

    def keep(self, data: bytes) -> None:
        """Write `data` whatever the cap says."""
        _write(self.file, data)
        self.kept += len(data)

    def finish(self, at_ns: int) -> None:
        """The stream has ended."""


class LineSink(Sink):
    """A sink that notes when each kept line was complete and watches for the final event.

    A final event beyond the cap is kept all the same (after a newline): it decides how the attempt ended.
    """

    def __init__(
        self, file: BinaryIO, cap: int, times: BinaryIO, is_final_event: Callable[[bytes], bool] | None
    ) -> None:
        super().__init__(file, cap)
        self.final_ns: int | None = None
        self._times = times
        self._is_final = is_final_event
        self._line: list[bytes] = []
        self._line_bytes = 0
        self._lines = 0

    def feed(self, data: bytes, at_ns: int) -> None:
        """Take a chunk received at `at_ns` after the start."""
        whole = self.kept + len(data) <= self.cap and self.total == self.kept
        super().feed(data, at_ns)
        if not whole and self._is_final is None:
            return
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines:
            self._extend(lines[0])
            lines[0] = b"".join(self._line)
            self._line.clear()
            self._line_bytes = 0
            self._complete(lines, at_ns, whole)
        self._extend(rest)

    def _extend(self, piece: bytes) -> None:
        self._line_bytes += len(piece)
        if self._line_bytes > _LONGEST_LINE:
            self._line.clear()
        elif piece and self._is_final is not None:
            self._line.append(piece)

    def _complete(self, lines: list[bytes], at_ns: int, whole: bool) -> None:
        if whole:
            self._stamp(len(lines), at_ns)
        for line in self._finals(lines):
            self.final_ns = at_ns
            if not whole:
                self.keep(b"\n" + line + b"\n")
                self._lines += 1  # the line the cap cut, or the empty one
                self._stamp(1, at_ns)

    def _finals(self, lines: list[bytes]) -> list[bytes]:
        if self._is_final is None:
            return []
        try:
            return list(filter(self._is_final, lines))
        except Exception:  # whatever an agent writes is no reason to lose its attempt
            return [line for line in lines if _holds(self._is_final, line)]

    def _stamp(self, count: int, at_ns: int) -> None:
        first, self._lines = self._lines + 1, self._lines + count
        numbers = range(first, min(self._lines, _MOST_TIMES) + 1)
        if numbers:
            _write(self._times, b"".join(b'{"line":%d,"at_ns":%d}\n' % (number, at_ns) for number in numbers))

    def finish(self, at_ns: int) -> None:
        """A last line without a newline counts as one."""
        if self._line_bytes:
            line = b"".join(self._line)
            self._line_bytes = 0
            self._complete([line], at_ns, self.total == self.kept)


def _holds(is_final_event: Callable[[bytes], bool], line: bytes) -> bool:
    try:
        return is_final_event(line)
    except Exception:
        return False


def open_unbuffered(path: Path) -> BinaryIO:
    """A new file for writing; every write is one system call, so a reader that follows it sees it at once."""
    return path.open("wb", buffering=0)
