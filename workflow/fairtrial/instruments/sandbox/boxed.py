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
from fairtrial.instruments.sandbox import canary, join, layout, linux, processes, seccomp
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

    def __init__(self, backend: Backend, monitor: subprocess.Popen[bytes], gate: socket.socket, init: int) -> None:
        self.backend = backend
        self.answers: canary.Answers = {}
        self.listener: socket.socket | None = None
        self.main = 0
        self.done_fd = -1
        self._monitor = monitor
        self._gate = gate
        self._init = init
        self._init_fd = processes.pidfd(init)
        self._main_fd: int | None = None
        self._sent: set[int] = set()
        self._ended = False

    def restrain(self, box: Box) -> None:
        """Resource limits of everything that will run inside."""
        limits = box.limits
        for what, value in ((resource.RLIMIT_FSIZE, limits.file_bytes), (resource.RLIMIT_NPROC, limits.processes)):
            _, hard = resource.prlimit(self._init, what)
            most = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(self._init, what, (most, most))
        resource.prlimit(self._init, resource.RLIMIT_CORE, (0, 0))

    def look(self, ask: canary.Questions, port: int | None) -> None:
        """Run the canaries inside, and open the endpoint's port there."""
        join.wait_until_built(self._init, layout.MARKER)
        seen = join.visit(self._init, ask, port)
        self.answers, self.listener = seen.answers, seen.listener

    def release(self) -> None:
        """Let the agent begin.

        bwrap's outer process is stopped meanwhile: it would end the box the moment the main process ends, before
        anyone could count what that left behind. Should we be killed, it is killed with us, stopped or not.
        """
        processes.send(self._monitor.pid, signal.SIGSTOP)
        self._gate.send(b"g")
        self._gate.close()
        self._main_fd = None
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            self.main = processes.first_child(self._init) or 0
            if self.main or not processes.alive(self._init):
                break
        self._main_fd = processes.pidfd(self.main)
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
        left = processes.descendants(self._init) - {self.main}
        if self.main and processes.alive(self.main):
            self._sent.add(signal.SIGKILL)
            processes.send(self._init, signal.SIGKILL)
        processes.send(self._monitor.pid, signal.SIGCONT)
        try:
            self._monitor.wait(2.0)
        except subprocess.TimeoutExpired:
            processes.send(self._init, signal.SIGKILL)
            self._monitor.kill()
            self._monitor.wait()
        processes.send(self._init, signal.SIGKILL) if processes.alive(self._init) else None
        if not processes.wait_gone(self._init, self._init_fd, 20.0):
            raise Fault("sandbox", "processes of the box did not end within 20 s of SIGKILL")
        processes.reap(self._init)
        return len(left)

    def status(self) -> tuple[int | None, int | None]:
        """Exit status and signal of the main process."""
        known = linux.wait_status(self._main_fd) if self._main_fd is not None else None
        if known is not None:
            return decode(known)
        return decode_shell(self._monitor.returncode, self._sent)

    def close(self) -> None:
        """Give descriptors back."""
        self._gate.close()
        for fd in (self._init_fd, self._main_fd):
            if fd is not None:
                os.close(fd)
        self._init_fd = self._main_fd = None


def _child_pid(info: int, monitor: subprocess.Popen[bytes]) -> int | None:
    """The pid of the box's init from --info-fd; the JSON arrives in several writes."""
    said = b""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        if not select.select([info], [], [], 0.5)[0]:
            if monitor.poll() is not None:
                return None
            continue
        piece = os.read(info, 4096)
        if not piece:
            return None
        said += piece
        with contextlib.suppress(ValueError):
            return int(json.loads(said)["child-pid"])
    return None


def _spawn(box: Box, backend: Backend, ends: Ends, gate: socket.socket, info: int) -> subprocess.Popen[bytes]:
    files = {path: _memory_file(data) for path, data in layout.etc_files(box).items()}
    passed = [*files.values(), gate.fileno(), info]
    try:
        words = layout.options(box, files, disable_userns=backend.disable_userns)
        words += ["--info-fd", str(info), "--block-fd", str(gate.fileno())]
        if backend.seccomp:
            passed.append(_memory_file(seccomp.program()))
            words += ["--seccomp", str(passed[-1])]
        passed.append(_memory_file(_joined(words)))
        command = ["bwrap", "--args", str(passed[-1]), "--", *box.argv]
        stdin, stdout, stderr = ends.far
        return subprocess.Popen(
            command, executable=backend.path, env={}, cwd="/", stdin=stdin, stdout=stdout, stderr=stderr,
            pass_fds=passed, start_new_session=True,
        )  # fmt: skip
    except OSError as problem:
        raise Fault("spawn", f"the box cannot be started: {problem}") from problem
    finally:
        for fd in passed:
            if fd not in (gate.fileno(), info):
                os.close(fd)


def start(box: Box, backend: Backend, ends: Ends) -> BwrapBox:
    """Build the box and hold the agent back. Fault('sandbox') with bwrap's own words when it cannot be built."""
    gate, inner_gate = socket.socketpair()
    info, inner_info = os.pipe()
    try:
        monitor = _spawn(box, backend, ends, inner_gate, inner_info)
    except BaseException:
        gate.close()
        os.close(info)
        raise
    finally:
        inner_gate.close()
        os.close(inner_info)
        ends.close_far()
    try:
        init = _child_pid(info, monitor)
    finally:
        os.close(info)
    if init is None:
        monitor.kill()
        monitor.wait()
        gate.close()
        raise Fault("sandbox", f"the box cannot be built: {_last_words(ends.near[2])}")
    started = BwrapBox(backend, monitor, gate, init)
    try:
        started.restrain(box)
    except OSError as problem:
        started.end()
        started.close()
        raise Fault("sandbox", f"limits cannot be set ({problem}); {_last_words(ends.near[2])}") from problem
    return started


def _last_words(fd: int) -> str:
    with contextlib.suppress(OSError):
        select.select([fd], [], [], 0.2)
        return os.read(fd, 4096).decode("utf-8", "replace").strip() or "bwrap said nothing"
    return "bwrap said nothing"
