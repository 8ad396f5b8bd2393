"""A short visit inside a box that is built but not yet released.

A forked process joins the box's user and network namespace and its root, runs the canaries there and, where the
model endpoint is in the path, binds its port and hands the listening socket back. Fork and not a new interpreter:
2 ms against 12, before every agent. The child only makes system calls and ends by _exit.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from fairtrial.contracts.errors import Fault
from fairtrial.instruments.sandbox import canary, linux

_PATIENCE = 10.0  # seconds; a loaded cluster node is slow, a dead child is not noticed any other way


@dataclass(frozen=True, slots=True)
class Visit:
    """What the visitor saw, and the listener it opened."""

    answers: canary.Answers
    listener: socket.socket | None


def wait_until_built(init: int, marker: str) -> None:
    """Return when process `init` has the box as its root, told by `marker` there. Fault('sandbox') when it ends."""
    here = Path("/").stat()
    root = Path(f"/proc/{init}/root")
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        try:
            there = root.stat()
            if (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino) and os.path.lexists(f"{root}{marker}"):
                return
        except OSError as problem:
            raise Fault("sandbox", f"the box ended while it was set up ({problem.strerror})") from problem
        time.sleep(0.0002)
    raise Fault("sandbox", f"the box was not set up within {_PATIENCE:.0f} s")


def visit(init: int, ask: canary.Questions, port: int | None) -> Visit:
    """Look around inside the box of `init`; with `port`, also listen on 127.0.0.1:port there.

    Raises Fault('sandbox') when the box cannot be entered, Fault('endpoint') when the port cannot be bound.
    """
    near, far = socket.socketpair()
    opened: list[int] = []
    try:
        try:
            opened += [os.open(f"/proc/{init}/{name}", os.O_RDONLY) for name in ("root", "ns/mnt", "ns/net")]
            opened.append(fcntl.ioctl(opened[1], linux.NS_GET_USERNS))
            own = Path("/proc/self/ns/net").stat().st_ino == os.fstat(opened[2]).st_ino
        except OSError as problem:
            raise Fault("sandbox", f"the box cannot be entered: {problem}") from problem
        linux.libc()
        child = _fork()
        if child == 0:
            _inside(far, (opened[0], opened[3], None if own else opened[2]), ask, port)
        far.close()
        return _answer(near, child)
    finally:
        near.close()
        far.close()
        for fd in opened:
            os.close(fd)


def _fork() -> int:
    with warnings.catch_warnings():  # 3.12 warns of threads; the child takes no lock that a thread could hold
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _inside(back: socket.socket, way: tuple[int, int, int | None], ask: canary.Questions, port: int | None) -> None:
    root, user, net = way
    try:
        listening: list[int] = []
        linux.join_namespace(user, linux.CLONE_NEWUSER)
        if net is not None:
            linux.join_namespace(net, linux.CLONE_NEWNET)
        os.fchdir(root)
        os.chroot(".")
        said: dict[str, object] = {"answers": canary.look(ask)}
        if port is not None:
            try:
                listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind(("127.0.0.1", port))
                listener.listen(128)
                listening.append(listener.fileno())
            except OSError as problem:
                said["port"] = str(problem)
        socket.send_fds(back, [json.dumps(said).encode()], listening)
    except BaseException as problem:  # a forked child must never return into the caller
        with contextlib.suppress(OSError):
            back.send(json.dumps({"error": repr(problem)}).encode())
    finally:
        os._exit(0)


def _answer(near: socket.socket, child: int) -> Visit:
    near.settimeout(_PATIENCE)
    try:
        data, fds, _, _ = socket.recv_fds(near, 1 << 16, 1)
        said = json.loads(data)
    except (OSError, ValueError) as problem:
        with contextlib.suppress(OSError):
            os.kill(child, 9)
        raise Fault("sandbox", f"no answer from inside the box: {problem}") from problem
    finally:
        os.waitpid(child, 0)
    listener = socket.socket(fileno=fds[0]) if fds else None
    if "error" in said:
        raise Fault("sandbox", f"the box cannot be entered: {said['error']}")
    if "port" in said:
        raise Fault("endpoint", f"the endpoint's port cannot be opened inside the box: {said['port']}")
    return Visit(said["answers"], listener)
