"""Start a process in a bubblewrap box: recipe and reasons in docs/isolation.md."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import subprocess
import time

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import Box
from fairtrial.instruments.sandbox import canary, cgroups, join, layout, linux, processes, seccomp
from fairtrial.instruments.sandbox.backends import Backend
from fairtrial.instruments.sandbox.started import Ends, decode, decode_shell

_PATIENCE = 20.0  # seconds until bwrap has said its child's pid


def _memory_file(data: bytes) -> int:
    fd = os.memfd_create("box", 0)
    os.write(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _joined(words: list[str]) -> bytes:
    return b"".join(os.fsencode(word) + b"\0" for word in words)


class BwrapBox:
    """A bubblewrap box that is built and waits. See started.Started."""

    def __init__(
        self, backend: Backend, monitor: subprocess.Popen[bytes], visitor: join.Visitor, gate: socket.socket, said: int
    ) -> None:
        self.backend = backend
        self.answers: canary.Answers = {}
        self.lacking: list[str] = []
        self.listener: socket.socket | None = None
        self.main = 0
        self.done_fd = -1
        self._monitor = monitor
        self._visitor = visitor
        self._gate = gate
        self._said = said
        self._init = 0
        self._init_fd: int | None = None
        self._main_fd: int | None = None
        self._sent: set[int] = set()
        self._ended = False
        self._fence: cgroups.Fence | None = None

    def restrain(self, box: Box, init: int | None) -> None:
        """Resource limits for `init`, the box's first process, and so for everything that will run inside."""
        if init is None:
            raise Fault("sandbox", "bwrap ended at once")
        self._init, self._init_fd = init, processes.pidfd(init)
        self._visitor.send_in(init)
        limits = box.limits
        for what, value in ((resource.RLIMIT_FSIZE, limits.file_bytes), (resource.RLIMIT_NPROC, limits.processes)):
            _, hard = resource.prlimit(init, what)
            most = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(init, what, (most, most))
        resource.prlimit(init, resource.RLIMIT_CORE, (0, 0))
        if os.geteuid() == 0:
            self._fence = cgroups.Fence(init, limits.processes)
            self.lacking += [] if self._fence.works else ["root's processes cannot be limited in number"]

    def await_built(self, *, looks: bool) -> None:
        """Return when the box stands; with what the visitor saw in it, if it looks."""
        if looks:
            self.answers, self.listener = self._visitor.answer()
        else:
            os.close(join.wait_until_built(self._init, layout.MARKER))

    def release(self) -> None:
        """Let the agent begin.

        bwrap's outer process is stopped meanwhile: it would end the box the moment the main process ends, before
        anyone could count what that left behind. Should we be killed, it is killed with us, stopped or not.
        """
        processes.send(self._monitor.pid, signal.SIGSTOP)
        self._gate.send(b"g")
        self._gate.close()
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            self.main = processes.first_child(self._init) or 0
            if self.main or not processes.alive(self._init):
                break
            time.sleep(join.LOOK_AGAIN)
        self._main_fd = processes.pidfd(self.main)
        if self._fence is not None:
            self._fence.raise_up()
        watched = self._main_fd if self._main_fd is not None else self._init_fd
        self.done_fd = -1 if watched is None else watched

    def send(self, number: int) -> None:
        """A signal to the main process."""
        self._sent.add(number)
        processes.send(self.main, number)

    def end(self) -> int:
        """End the box: when its init is gone, so is everything in it."""
        if self._ended:
            return 0
        self._ended = True
        left = processes.descendants(self._init) - {self.main} if self._init else set()
        if self.main and processes.alive(self.main):
            self._sent.add(signal.SIGKILL)
        if not self.main or self._sent & {signal.SIGKILL}:
            processes.send(self._init, signal.SIGKILL)
        processes.send(self._monitor.pid, signal.SIGCONT)
        try:
            self._monitor.wait(2.0)
        except subprocess.TimeoutExpired:
            self._monitor.kill()
            self._monitor.wait()
        processes.send(self._init, signal.SIGKILL)  # not reaped before `reap`, so the number is still its own
        if self._init and not processes.wait_gone(self._init, self._init_fd, 20.0):
            raise Fault("sandbox", "processes of the box did not end within 20 s of SIGKILL")
        processes.reap(self._init)
        return len(left)

    def status(self) -> tuple[int | None, int | None]:
        """Exit status and signal of the main process."""
        known = linux.wait_status(self._main_fd) if self._main_fd is not None else None
        if known is not None:
            return decode(known)
        return decode_shell(self._monitor.returncode, self._sent)

    def unstarted(self) -> bool:
        """bwrap reports an exit code on its status descriptor for a program that began, and none for one it could not.

        It ends with 1 by itself then; where we or the system killed something the missing word means nothing.
        """
        if self._monitor.returncode != 1 or self._sent or self._said < 0:
            return False
        said = b""
        while select.select([self._said], [], [], 0)[0] and (piece := os.read(self._said, 4096)):
            said += piece
        return b"exit-code" not in said

    def close(self) -> None:
        """Give descriptors back."""
        self._gate.close()
        self._visitor.reap()
        if self._fence is not None:
            self._fence.remove()
        for fd in (self._said, self._init_fd, self._main_fd):
            if fd is not None and fd >= 0:
                os.close(fd)
        self._said, self._init_fd, self._main_fd = -1, None, None


def _child_pid(said: int, monitor: subprocess.Popen[bytes]) -> int | None:
    """The pid of the box's init from --json-status-fd; the JSON arrives in several writes."""
    text = b""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if not select.select([said], [], [], 0.5)[0]:
            if monitor.poll() is not None:
                return None
            continue
        piece = os.read(said, 4096)
        if not piece:
            return None
        text += piece
        with contextlib.suppress(ValueError):
            return int(json.loads(text)["child-pid"])
    return None


def _spawn(box: Box, backend: Backend, ends: Ends, gate: socket.socket, said: int) -> subprocess.Popen[bytes]:
    files = {path: _memory_file(data) for path, data in layout.etc_files(box).items()}
    passed = [*files.values(), gate.fileno(), said]
    try:
        words = layout.options(box, files, disable_userns=backend.disable_userns)
        words += ["--json-status-fd", str(said), "--block-fd", str(gate.fileno())]
        if backend.seccomp:
            passed.append(_memory_file(seccomp.program()))
            words += ["--seccomp", str(passed[-1])]
        passed.append(_memory_file(_joined(words)))
        command = ["bwrap", "--args", str(passed[-1]), "--", *box.argv]
        stdin, stdout, stderr = ends.far
        return subprocess.Popen(
            command, executable=backend.path, env={}, cwd="/", stdin=stdin, stdout=stdout, stderr=stderr,
            pass_fds=passed, start_new_session=True, preexec_fn=linux.dying_with(os.getpid()),  # noqa: PLW1509 - two system calls
        )  # fmt: skip
    except OSError as problem:
        raise Fault("spawn", f"the box cannot be started: {problem}") from problem
    finally:
        for fd in passed:
            if fd not in (gate.fileno(), said):
                os.close(fd)


def _build(box: Box, backend: Backend, ends: Ends, ask: canary.Questions | None, port: int | None) -> BwrapBox:
    gate, inner_gate = socket.socketpair()
    said, inner_said = os.pipe()
    visitor = join.Visitor(ask, port, said, (gate.fileno(), inner_gate.fileno()), layout.MARKER)
    monitor = None
    try:
        monitor = _spawn(box, backend, ends, inner_gate, inner_said)
    finally:
        inner_gate.close()
        os.close(inner_said)
        ends.close_far()
        if monitor is None:
            visitor.reap()
            gate.close()
            os.close(said)
    started = BwrapBox(backend, monitor, visitor, gate, said)
    try:
        started.restrain(box, _child_pid(said, monitor))
        started.await_built(looks=ask is not None)
    except BaseException:
        started.end()
        started.close()
        raise
    return started


def start(box: Box, backend: Backend, ends: Ends, ask: canary.Questions | None, port: int | None) -> BwrapBox:
    """Build the box and hold the agent back; with `ask`, prove it from inside; with `port`, listen there.

    Fault('sandbox') with bwrap's own words when it cannot be built, Fault('endpoint') for the port.
    """
    try:
        return _build(box, backend, ends, ask, port)
    except (Fault, OSError) as problem:
        if isinstance(problem, Fault) and problem.kind != "sandbox":
            raise
        why = problem.message if isinstance(problem, Fault) else str(problem)
        raise Fault("sandbox", f"the box cannot be built: {_last_words(ends.near[2]) or why}") from problem


def _last_words(fd: int) -> str:
    with contextlib.suppress(OSError):
        select.select([fd], [], [], 0.2)
        return os.read(fd, 4096).decode("utf-8", "replace").strip()
    return ""
