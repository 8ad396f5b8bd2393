"""A short visit inside a box that is built but not yet released.

A forked process waits until the box is built, joins its user and network namespace and its root, runs the canaries
there and, where the model endpoint is in the path, binds its port and hands the listening socket back. Fork and not
a new interpreter (12 ms before every agent), and beside the building of the box. The child only makes system calls
and ends by _exit.

Afterwards it stays as a guardian: a runner that is killed before bwrap's own ties are tied would leave a box that
starts by itself. When the runner's side of its socket closes, it ends the box, and keeps the gate shut until it has.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import time
import warnings
from pathlib import Path

from fairtrial.contracts.errors import Fault
from fairtrial.instruments.sandbox import canary, linux, processes

_PATIENCE = 10.0  # seconds; a loaded cluster node is slow, a dead child is not noticed any other way
LOOK_AGAIN = 0.0001  # seconds


class Visitor:
    """A forked process that is told the box's init, looks around inside, answers once, and guards the box.

    Forked before bwrap is. `ask` None: it only guards. `port`: also listen on 127.0.0.1:port in there. `said`: bwrap's
    status descriptor; `gate`: the two ends of what holds the agent back as long as someone keeps our end open.
    `marker`: a path that exists in every finished box.
    """

    def __init__(
        self, ask: canary.Questions | None, port: int | None, said: int, gate: tuple[int, int], marker: str
    ) -> None:
        linux.libc()
        _reap_the_dying()
        self._near, far = socket.socketpair()
        self._child = _fork()
        if self._child == 0:
            _inside(far, (said, *gate), ask, port, marker)
        far.close()

    def send_in(self, init: int) -> None:
        """The box of process `init` is being built."""
        with contextlib.suppress(OSError):
            self._near.send(str(init).encode())

    def answer(self) -> tuple[canary.Answers, socket.socket | None]:
        """What was seen, and the listener. Fault: 'sandbox' when the box cannot be entered, 'endpoint' for the port."""
        self._near.settimeout(2 * _PATIENCE)
        try:
            data, fds, _, _ = socket.recv_fds(self._near, 1 << 16, 1)
            said = json.loads(data)
        except (OSError, ValueError) as problem:
            raise Fault("sandbox", f"no answer from inside the box: {problem}") from problem
        listener = socket.socket(fileno=fds[0]) if fds else None
        if "error" in said:
            raise Fault("sandbox", f"the box cannot be entered: {said['error']}")
        if "port" in said:
            raise Fault("endpoint", f"the endpoint's port cannot be opened inside the box: {said['port']}")
        return said["answers"], listener

    def reap(self) -> None:
        """The box has ended. Its end is not waited for: tearing a forked interpreter down takes milliseconds."""
        if self._child:
            with contextlib.suppress(OSError):
                os.kill(self._child, signal.SIGKILL)
            self._near.close()
            _dying.append(self._child)
            self._child = 0
            _reap_the_dying()


_dying: list[int] = []


def _reap_the_dying() -> None:
    for child in list(_dying):
        with contextlib.suppress(OSError, ValueError):
            if os.waitpid(child, os.WNOHANG)[0] == child:
                _dying.remove(child)


def _fork() -> int:
    with warnings.catch_warnings():  # 3.12 warns of threads; the child takes no lock that a thread could hold
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def wait_until_built(init: int, marker: str) -> int:
    """A descriptor of the root of process `init`, once that is the box. OSError when it ends or takes too long."""
    here = Path("/").stat()
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        root = os.open(f"/proc/{init}/root", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        there = os.fstat(root)
        if (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino):
            with contextlib.suppress(FileNotFoundError):
                os.stat(marker.lstrip("/"), dir_fd=root, follow_symlinks=False)
                return root
        os.close(root)
        time.sleep(LOOK_AGAIN)
    raise TimeoutError(f"not built within {_PATIENCE:.0f} s")


def _enter(init: int, marker: str) -> None:
    root = wait_until_built(init, marker)
    mount, net = (os.open(f"/proc/{init}/ns/{name}", os.O_RDONLY) for name in ("mnt", "net"))
    own = Path("/proc/self/ns/net").stat().st_ino == os.fstat(net).st_ino
    linux.join_namespace(fcntl.ioctl(mount, linux.NS_GET_USERNS), linux.CLONE_NEWUSER)
    if not own:
        linux.join_namespace(net, linux.CLONE_NEWNET)
    os.fchdir(root)
    os.chroot(".")


def _inside(
    back: socket.socket, kept: tuple[int, int, int], ask: canary.Questions | None, port: int | None, marker: str
) -> None:
    said, gate, far_gate = kept
    box, awaited = None, f"socket:[{os.fstat(far_gate).st_ino}]"
    try:
        _close_all_but({0, 1, 2, back.fileno(), said, gate})
        for number in (signal.SIGTERM, signal.SIGINT):  # the runner ends on them, and we when the runner has
            signal.signal(number, signal.SIG_IGN)
        init = int(back.recv(32) or _announced(said))
        box = processes.pidfd(init)
        if ask is not None:
            _look(back, init, ask, port, marker)
        back.recv(1)
    except BaseException as problem:  # a forked child must never return into the caller
        with contextlib.suppress(OSError):
            back.send(json.dumps({"error": str(problem)}).encode())
            back.recv(1)
    finally:
        if box is not None:
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(box, signal.SIGKILL)
        with contextlib.suppress(OSError):
            _end_all_who_hold(awaited)
        os._exit(0)


def _end_all_who_hold(awaited: str) -> None:
    """Kill whoever has `awaited` open: bwrap on either side of making its namespaces, when nobody knows its number yet.

    Until two looks in a row find nobody: one look can miss a process that is being made.
    """
    deadline, clean = time.monotonic() + _PATIENCE, 0
    while clean < 2 and time.monotonic() < deadline:
        holders = [int(name) for name in os.listdir("/proc") if name.isdigit() and _holds(name, awaited)]  # noqa: PTH208
        for pid in holders:
            processes.send(pid, signal.SIGKILL)
        clean = 0 if holders else clean + 1
        time.sleep(LOOK_AGAIN)


def _holds(pid: str, awaited: str) -> bool:
    with contextlib.suppress(OSError):
        folder = f"/proc/{pid}/fd"
        return any(os.readlink(f"{folder}/{fd}") == awaited for fd in os.listdir(folder))  # noqa: PTH115, PTH208
    return False


def _close_all_but(kept: set[int]) -> None:
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        if int(name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(name))


def _announced(said: int) -> int:
    """The runner was killed before it told us: what bwrap wrote for it."""
    with contextlib.suppress(ValueError, KeyError):
        return int(json.loads(os.read(said, 4096))["child-pid"])
    return 0


def _look(back: socket.socket, init: int, ask: canary.Questions, port: int | None, marker: str) -> None:
    _enter(init, marker)
    said: dict[str, object] = {"answers": canary.look(ask)}
    listening: list[int] = []
    if port is not None:
        try:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", port))
            listener.listen(128)
            listening.append(listener.detach())
        except OSError as problem:
            said["port"] = str(problem)
    socket.send_fds(back, [json.dumps(said).encode()], listening)
    for fd in listening:
        os.close(fd)
