"""Run one process in a box: `run` for the agent, `run_simple` for product code."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import Box, Budget, Json, ProcessReport
from fairtrial.instruments.sandbox import backends, boxed, canary, layout, linux, record
from fairtrial.instruments.sandbox.backends import Backend, Policy
from fairtrial.instruments.sandbox.disk import SizeWatch
from fairtrial.instruments.sandbox.started import Ends, Started, pipe_ends, socket_ends
from fairtrial.instruments.sandbox.streams import LineSink, Sink, open_unbuffered
from fairtrial.instruments.sandbox.watch import Told, Watch

Listener = tuple[int, Callable[[socket.socket], None]]
BESIDE = 0.25  # seconds in which a signal to all of a job reaches the runner after it reached the agent
PROTOCOL = 1  # of what the boxed process sees; part of the recipe digest


@lean(frozen=True)
class Completed:
    """A finished `run_simple`."""

    stdout: bytes
    stderr: bytes
    status: int | None  # None when it was ended by `signal`
    signal: int | None
    timed_out: bool
    stdout_bytes: int  # before the cap
    stderr_bytes: int
    seconds: float
    survivors_killed: int
    isolation: Json


class _Interrupts:
    """SIGINT and SIGTERM end the agent instead of the runner, while a run is going on."""

    def __init__(self) -> None:
        self.seen = False
        self.wake: int | None = None

    def __call__(self) -> bool:
        return self.seen

    def within(self, seconds: float) -> bool:
        """Did one come, or does one within so long?"""
        if not self.seen and self.wake is not None:
            select.select([self.wake], [], [], seconds)
        return self.seen

    @contextlib.contextmanager
    def caught(self) -> Iterator[_Interrupts]:
        """Only the main thread can catch signals; elsewhere the caller's stop_event has to do."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        near, far = socket.socketpair()
        near.setblocking(False)
        far.setblocking(False)
        self.wake = near.fileno()

        def note(number: int, frame: object) -> None:
            self.seen = True
            with contextlib.suppress(OSError):
                far.send(b"i")

        before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            near.close()
            far.close()


_reaper_lock = threading.Lock()
_reapers = 0


@contextlib.contextmanager
def _reaping() -> Iterator[None]:
    """Orphans of the box come to this process while it runs boxes, so that their end can be waited for."""
    global _reapers  # noqa: PLW0603 - a property of the process
    if not hasattr(os, "pidfd_open"):
        yield
        return
    with _reaper_lock:
        _reapers += 1
        linux.become_subreaper()
    try:
        yield
    finally:
        with _reaper_lock:
            _reapers -= 1
            if _reapers == 0:
                linux.become_subreaper(False)


def _claim(folder: Path) -> None:
    """The boxed process has the runner's uid on the disk; what belongs to someone else it cannot write."""
    uid = os.geteuid()
    if folder.stat().st_uid == uid:
        return
    if uid != 0:
        raise Fault("sandbox", f"{folder.name} belongs to another user (uid {folder.stat().st_uid}, we are {uid})")
    for top, _, files in os.walk(folder):
        os.chown(top, 0, 0)
        for name in files:
            os.chown(os.path.join(top, name), 0, 0, follow_symlinks=False)  # noqa: PTH118


def _home_entries(box: Box, home: str) -> list[str]:
    """What may be seen at the place of the host's HOME: only the way to something that is bound."""
    bound = [Path(bind.target) for bind in box.binds] + [layout.interpreter_folder(), Path(box.workspace_target)]
    return [path.relative_to(home).parts[0] for path in bound if path.is_relative_to(home) and path != Path(home)]


@contextlib.contextmanager
def _questions(box: Box) -> Iterator[canary.Questions]:
    """The canaries' questions, with listeners of this machine that must not be reached while they are asked."""
    home = os.path.expanduser("~")  # noqa: PTH111
    asked_home = home if home not in ("/", "", box.home_target) else ""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        name = ""
        if os.path.exists("/proc/self/ns"):  # noqa: PTH110
            name = f"box-{os.urandom(8).hex()}"
            abstract = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            abstract.bind("\0" + name)
            abstract.listen()
        yield canary.Questions(
            home=asked_home, home_allowed=_home_entries(box, asked_home) if asked_home else [],
            hidden=[str(path) for path in box.hidden], read_only=list(box.read_only),
            network=box.network != "host", tcp_port=server.getsockname()[1], abstract_name=name,
            secret_words=[str(box.workspace), str(box.home)],
        )  # fmt: skip


def _start(box: Box, backend: Backend, ends: Ends, *, look: bool, port: int | None) -> Started:
    if not box.argv:
        raise Fault("spawn", "nothing to start: the command is empty")
    if backend.kind == "bwrap" and not look and port is None:
        return boxed.start(box, backend, ends, None, None)
    with _questions(box) as ask:
        if backend.kind == "bwrap":
            return boxed.start(box, backend, ends, ask, port)
        from fairtrial.instruments.sandbox import supervised

        return supervised.start(box, backend, ends, ask, port)


def _watched(
    box: Box, backend: Backend, ends: Ends, sinks: tuple[Sink, Sink], budget: Budget, *, policy: Policy = "auto",
    look: bool = True, on_start: Callable[[int, int], None] | None = None,
    stop: Callable[[], str | None] = lambda: None, listener: Listener | None = None,
) -> tuple[Told, tuple[int | None, int | None], Json]:  # fmt: skip
    """Start, hand over, watch and end; returns what was seen, (exit status, signal) and the isolation record."""
    for folder in (box.workspace, box.home):
        _claim(folder)
    with _Interrupts().caught() as interrupts, _reaping(), contextlib.closing(ends):
        started = _start(box, backend, ends, look=look, port=listener[0] if listener else None)
        try:
            record.check(started.answers, policy)
            if listener is not None and started.listener is not None:
                listener[1](started.listener)
            watch = Watch(
                started, ends, sinks, budget, stdin=box.stdin, stop=stop, interrupted=interrupts, wake=interrupts.wake
            )
            clock_ns = time.monotonic_ns()
            started.release()
            if on_start is not None:
                on_start(started.main, clock_ns)
            told = watch.run(clock_ns)
            told.interrupted = told.interrupted or _from_outside(told, started.status(), interrupts)
            told.unstarted = started.unstarted()
            return told, started.status(), record.isolation(started, box)
        finally:
            started.end()
            started.close()


def _from_outside(told: Told, ended: tuple[int | None, int | None], interrupts: _Interrupts) -> bool:
    """Is this end ours to account for? A scheduler that cancels a job signals agent and runner, in any order."""
    if told.timed_out or told.stopped_by is not None:
        return False
    status, number = ended
    signalled = (number or (status or 0) - 128) in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
    return interrupts.within(BESIDE if signalled else 0)


def run(
    stage_box: Box, budget: Budget, *, stdout: Path, stderr: Path, times: Path, policy: Policy = "auto",
    cache: Path | None = None, backend: Backend | None = None,
    is_final_event: Callable[[bytes], bool] | None = None, on_start: Callable[[int, int], None] | None = None,
    stop_event: Callable[[], str | None] | None = None, listener: Listener | None = None,
    size_cap: int | None = None,
) -> ProcessReport:  # fmt: skip
    """Run the agent in its box until it has ended and nothing of it is alive.

    stdout, stderr, times: files to write; the first two hold at most box.limits.output_bytes, times one JSON line
    {"line", "at_ns"} per complete line of stdout (ns since the start). on_start(main pid, monotonic ns).
    stop_event() is polled about five times a second; a reason ends the agent. listener: (port, callback) gets a
    socket that listens on 127.0.0.1:port inside the box. size_cap: bytes of workspace and HOME together.
    cache: folder in which the probe of this machine is remembered (default: the user's). backend: not the best one.
    Raises UserError (policy 'required' cannot be had) and Fault (sandbox, spawn, endpoint, disk).
    """
    backend = backend or backends.choose(policy, cache)
    cap = stage_box.limits.output_bytes
    with ExitStack() as stack:
        out, err, stamps = (stack.enter_context(open_unbuffered(path)) for path in (stdout, stderr, times))
        lines, errors = LineSink(out, cap, stamps, is_final_event), Sink(err, cap)
        size = stack.enter_context(SizeWatch([stage_box.workspace, stage_box.home], size_cap))
        told, (status, number), isolation = _watched(
            stage_box, backend, socket_ends(), (lines, errors), budget, policy=policy, on_start=on_start,
            stop=lambda: size.reason() or (stop_event() if stop_event else None), listener=listener,
        )  # fmt: skip
    return ProcessReport(
        started_ns=told.started_ns, ended_ns=told.ended_ns, exit_status=status, signal=number,
        timed_out=told.timed_out, lingered=told.lingered,
        final_event_ns=None if lines.final_ns is None else told.started_ns + lines.final_ns,
        stdout_bytes=lines.total, stderr_bytes=errors.total, stdout_kept_bytes=lines.kept,
        stderr_kept_bytes=errors.kept, survivors_killed=told.survivors, interrupted=told.interrupted,
        isolation=isolation, stopped_by=told.stopped_by, unstarted=_last_line(stderr) if told.unstarted else None,
    )  # fmt: skip


def _last_line(stderr: Path) -> str:
    """The sandbox's own words, where the program itself could not have written any."""
    lines = stderr.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "no reason was given"


def run_simple(
    box: Box, seconds: float, *, policy: Policy = "auto", cache: Path | None = None, backend: Backend | None = None,
    grace_seconds: float = 0.5, canaries: bool = False,
) -> Completed:  # fmt: skip
    """Run product code in a box for at most `seconds` and return what it wrote (capped by box.limits.output_bytes).

    Plain pipes, no canaries unless asked for (then it costs 3 ms more). A crash or a hang is a result, never an
    exception; Fault('interrupted') when this process was told to end meanwhile.
    """
    backend = backend or backends.choose(policy, cache)
    outputs = BytesIO(), BytesIO()
    sinks = cast("tuple[Sink, Sink]", tuple(Sink(cast("BinaryIO", o), box.limits.output_bytes) for o in outputs))
    budget = Budget(seconds, grace_seconds=grace_seconds)
    told, (status, number), isolation = _watched(box, backend, pipe_ends(), sinks, budget, policy=policy, look=canaries)
    if told.interrupted:
        raise Fault("interrupted", "ended by a signal")
    return Completed(
        outputs[0].getvalue(), outputs[1].getvalue(), status, number, told.timed_out, sinks[0].total, sinks[1].total,
        (told.ended_ns - told.started_ns) / 1e9, told.survivors, isolation,
    )  # fmt: skip
