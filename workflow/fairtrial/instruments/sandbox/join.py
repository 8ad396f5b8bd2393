"""A short visit inside a box that is built but not yet released.

A forked process waits until the box is built, joins its user and network namespace and its root, runs the canaries
there and, where the model endpoint is in the path, binds its port and hands the listening socket back. Fork and not
a new interpreter (12 ms before every agent), and beside the building of the box. The child only makes system calls
and ends by _exit.
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
from fairtrial.instruments.sandbox import canary, linux

_PATIENCE = 10.0  # seconds; a loaded cluster node is slow, a dead child is not noticed any other way
LOOK_AGAIN = 0.0001  # seconds


class Visitor:
    """A forked process that is told the box's init, looks around inside and answers once."""

    def __init__(self, ask: canary.Questions, port: int | None, marker: str) -> None:
        """`port`: also listen on 127.0.0.1:port in there. `marker`: a path that exists in every finished box."""
        linux.libc()
        self._near, far = socket.socketpair()
        self._child = _fork()
        if self._child == 0:
            _inside(far, ask, port, marker)
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
        """Not right after the answer: tearing a forked interpreter down takes milliseconds."""
        if self._child:
            self._near.close()
            with contextlib.suppress(OSError):
                os.kill(self._child, signal.SIGKILL)
                os.waitpid(self._child, 0)
            self._child = 0


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


def _inside(back: socket.socket, ask: canary.Questions, port: int | None, marker: str) -> None:
    try:
        told = back.recv(32)
        if not told:
            return
        _enter(int(told), marker)
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
    except BaseException as problem:  # a forked child must never return into the caller
        with contextlib.suppress(OSError):
            back.send(json.dumps({"error": str(problem)}).encode())
    finally:
        os._exit(0)
