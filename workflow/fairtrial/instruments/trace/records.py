"""The lines of the trace while they grow: start and end merged, nesting from the process tree, outputs in files."""

from __future__ import annotations

import re
from io import FileIO
from pathlib import Path

from fairtrial.contracts.lean import field, lean
from fairtrial.contracts.protocols import Json
from fairtrial.instruments.trace import procfs, wire

INTERPRETERS = re.compile(r"(python|pypy|node|nodejs|deno|bun|ruby|perl|java)[0-9.]*$")
LETTERS = {b"O": "stdout", b"R": "stderr"}


@lean(frozen=True)
class Caps:
    """Bytes and counts one attempt may fill; more is counted, not kept."""

    stream_bytes: int = 1 << 20  # per stream of one command; the shim holds to it
    capture_bytes: int = 64 << 20
    argument_bytes: int = 1 << 20  # per command
    text_bytes: int = 64 << 20  # arguments and folders of all commands
    records: int = 100_000
    unproven: int = 200


@lean
class Record:
    """One command: its line, and what is needed until it ends."""

    span: str
    line: Json
    start: wire.Start
    process: procfs.Process | None
    proven: bool
    nested: bool
    cut: bool = False  # the end of its arguments is not kept
    lost: set[str] = field(default_factory=set)  # streams whose copy could not be written; nothing follows a hole
    kept: dict[str, int] = field(default_factory=lambda: {"stdout": 0, "stderr": 0})
    paths: dict[str, Path] = field(default_factory=dict)
    files: dict[str, FileIO] = field(default_factory=dict)

    @property
    def interpreter(self) -> bool:
        """Its command runs programs, so the agent program itself may be started by it."""
        return INTERPRETERS.match(self.start.command) is not None


class Records:
    """All commands of one attempt."""

    def __init__(self, folder: Path, caps: Caps) -> None:
        self.folder = folder
        self.caps = caps
        self.lines: list[Record] = []
        self.capture_bytes = 0
        self.text_bytes = 0
        self.cut_arguments = 0
        self.capture_full = False
        self.span_mismatch = 0
        self.unproven = 0
        self._by_pid: dict[int, Record] = {}
        self._spans: dict[str, Record] = {}

    def begin(self, start: wire.Start, pid: int, proven: bool, main: int | None) -> Record | None:
        """A command started. None when the caps say no more."""
        self.unproven += not proven
        if len(self.lines) >= self.caps.records or (not proven and self.unproven > self.caps.unproven):
            return None
        process = procfs.look(pid)
        above = procfs.lineage(process, main) if process else []
        self._doubt_earlier(pid, process)
        seq = len(self.lines)
        span = start.span if proven and start.span not in self._spans else f"u{seq}"
        parent = self._parent(above, start)
        record = Record(span, {}, start, process, proven, nested="n" in start.flags)
        record.line = _line(record, seq, parent)
        record.line["ancestors"] = [procfs.executable(p) for p in above]
        # A shim that was killed leaves no program to prove it by: it is not taken for a forgery.
        dead = process is None or (not proven and procfs.without_program(pid))
        record.line["parent_is_main"] = None if dead or process is None else process.parent  # settled in close()
        self._count_text(record, len(start.argv) + len(start.cwd))
        self.lines.append(record)
        self._spans[span] = record
        if proven:
            self._by_pid[pid] = record
        return record

    def more(self, record: Record, letter: bytes, body: bytes) -> None:
        """More arguments or captured bytes of a command. ValueError: no such message."""
        if letter == b"A":
            record.start.argv += b"" if record.cut else body
            self._count_text(record, len(body))
        elif letter in LETTERS:
            self._keep(record, LETTERS[letter], body)
        else:
            raise ValueError("unknown message")

    def finish(self, record: Record, end: wire.End) -> None:
        """The command ended by itself or by a signal."""
        self._keep(record, "stdout", end.stdout)
        self._keep(record, "stderr", end.stderr)
        totals = {"stdout": end.stdout_bytes, "stderr": end.stderr_bytes}
        record.line.update(
            ended_ns=end.ended_ns, exit_status=end.exit_status, signal=end.signal,
            stdout_bytes=totals["stdout"], stderr_bytes=totals["stderr"],
        )  # fmt: skip
        record.line["output_truncated"] = any((totals[s] or 0) > record.kept[s] for s in totals)

    def left(self, record: Record) -> None:
        """The connection is closed: no more output; a nested command lives on under the same number."""
        for handle in record.files.values():
            handle.close()
        record.files.clear()
        if record.line["ended_ns"] is None and record.start.flags.strip("nr"):
            record.line["output_truncated"] = True

    def forget(self, record: Record) -> None:
        """It was the agent program itself, not a command of its."""
        if self.lines and self.lines[-1] is record:
            self.lines.pop()
        else:
            self.lines.remove(record)
        self._spans.pop(record.span, None)
        self._by_pid = {p: r for p, r in self._by_pid.items() if r is not record}

    def close(self, main: int | None) -> None:
        """Settle what could only be known at the end."""
        for seq, record in enumerate(self.lines):
            self.left(record)
            line, parent = record.line, record.line["parent_is_main"]
            line["seq"] = seq
            line["argv"] = wire.arguments(record.start)
            line["parent_is_main"] = None if main is None or parent is None else parent == main
            line["proven"] = record.proven
            for stream, path in record.paths.items():
                line[f"{stream}_path"] = f"{self.folder.name}/{path.name}"
        self.unproven = sum(not r.proven for r in self.lines)

    def _parent(self, above: list[procfs.Process], start: wire.Start) -> Record | None:
        """The nearest traced ancestor: by the process tree, which cannot be forged, else by the declared span."""
        for process in above:
            found = self._by_pid.get(process.pid)
            if found and found.process and found.process.born == process.born:
                return found
        declared = self._spans.get(start.parent)
        if start.depth and declared is None:
            self.span_mismatch += 1
        return declared if start.depth else None

    def _doubt_earlier(self, pid: int, process: procfs.Process | None) -> None:
        """A shim that runs its command never connects twice: whoever sent the first became a shim only afterwards."""
        earlier = self._by_pid.get(pid)
        if earlier and not earlier.nested and earlier.process and process and earlier.process.born == process.born:
            earlier.proven = False

    def _count_text(self, record: Record, size: int) -> None:
        """Past a cap the end of a command's arguments is cut, never the middle."""
        self.text_bytes += size
        room = self.caps.argument_bytes
        if self.text_bytes > self.caps.text_bytes:
            room = min(4096, room)
        if len(record.start.argv) > room:
            del record.start.argv[room:]
            self.cut_arguments += not record.cut
            record.cut = True

    def _keep(self, record: Record, stream: str, body: bytes) -> None:
        room = min(self.caps.capture_bytes - self.capture_bytes, self.caps.stream_bytes - record.kept[stream])
        self.capture_full = self.capture_full or len(body) > self.caps.capture_bytes - self.capture_bytes
        body = body[: max(room, 0)]
        if not body or not record.proven or stream in record.lost:
            return
        try:
            written = self._copy(record, stream).write(body) or 0
        except OSError:  # no space, no descriptor: the copy ends here, the record goes on
            written = 0
        if written < len(body):
            record.lost.add(stream)
            self.capture_full = True
        record.kept[stream] += written
        self.capture_bytes += written

    def _copy(self, record: Record, stream: str) -> FileIO:
        if stream not in record.files:
            self.folder.mkdir(exist_ok=True)
            name = re.sub(r"[^A-Za-z0-9._-]", "_", record.start.command)[:40]
            path = self.folder / f"{record.line['seq']:06d}-{name}.{stream}"
            record.files[stream] = path.open("ab", buffering=0)  # so that closing has nothing left to write
            record.paths[stream] = path
        return record.files[stream]


def _line(record: Record, seq: int, parent: Record | None) -> Json:
    start = record.start
    return {
        "schema_version": 3, "seq": seq, "span": record.span, "parent_span": parent.span if parent else None,
        "depth": parent.line["depth"] + 1 if parent else 0, "command": start.command, "argv": [], "cwd": start.cwd,
        "started_ns": start.started_ns, "ended_ns": None, "exit_status": None, "signal": None, "stdin_bytes": None,
        "stdout_bytes": None, "stderr_bytes": None, "merged": "m" in start.flags, "stdout_path": None,
        "stderr_path": None, "output_truncated": False, "refused": "r" in start.flags, "proven": record.proven,
        "shim": start.shim, "pid": start.pid, "ppid": start.ppid, "sid": start.sid, "pgid": start.pgid,
        "parent_is_main": None, "shlvl": start.shlvl, "env_names": start.env_names, "ancestors": [], "snapshot": None,
    }  # fmt: skip
