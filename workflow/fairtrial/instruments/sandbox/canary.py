"""Questions asked from inside a box, by a process that sees what the agent will see.

Nothing here believes the option list: a path is looked up, a file is opened for writing, an address is
connected to. Standard library only and no import inside a function: `look` runs in a forked child.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket

from fairtrial.contracts.lean import field, lean

Answers = dict[str, bool | None]
_KERNEL = ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger")  # opened, never written
_CANARY = ".canary"
_UNROUTED = "192.0.2.1"  # TEST-NET-1: never a real host


@lean(frozen=True)
class Questions:
    """What to ask; paths as seen inside the box, ports and names of listeners outside it."""

    home: str = ""
    home_allowed: list[str] = field(default_factory=list)  # entries of home that lead to something bound on purpose
    hidden: list[str] = field(default_factory=list)
    read_only: list[str] = field(default_factory=list)
    network: bool = True  # False: the network is shared on purpose, nothing to prove
    tcp_port: int = 0
    abstract_name: str = ""
    pid_namespace: bool = True
    secret_words: list[str] = field(default_factory=list)  # must not be found in pid 1's environment or command line


def _listed(path: str) -> list[str] | None:
    try:
        return os.listdir(path)  # noqa: PTH208 - pathlib is not needed in the forked child
    except OSError:
        return None


def out_of_reach(path: str) -> bool:
    """Whether `path` can be neither read nor listed nor written."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        os.close(os.open(path, flags))
    except OSError as problem:
        return problem.errno in (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM)
    return False


def refuses_writes(path: str) -> bool:
    """Whether `path` cannot be written: a file opened for writing, a folder given a new entry."""
    target, flags = path, os.O_WRONLY | os.O_CLOEXEC
    if os.path.isdir(path):  # noqa: PTH112
        target, flags = f"{path}/{_CANARY}", flags | os.O_CREAT | os.O_EXCL
    try:
        os.close(os.open(target, flags, 0o600))
    except OSError as problem:
        return problem.errno in (errno.EROFS, errno.EACCES, errno.EPERM)
    if target != path:
        with contextlib.suppress(OSError):
            os.unlink(target)  # noqa: PTH108
    return False


def _reached(family: int, kind: int, address: str | tuple[str, int]) -> bool:
    with socket.socket(family, kind) as probe:
        probe.settimeout(0.5)
        try:
            probe.connect(address)
        except TimeoutError:
            return True  # a packet left: there is a route
        except OSError:
            return False
    return True


def network_refused(tcp_port: int, abstract_name: str) -> bool:
    """Whether the machine's loopback, its abstract sockets and any address beyond it are all out of reach."""
    tries: list[tuple[int, int, str | tuple[str, int]]] = [
        (socket.AF_INET, socket.SOCK_STREAM, (_UNROUTED, 9)),
        (socket.AF_INET, socket.SOCK_DGRAM, (_UNROUTED, 53)),
    ]
    if tcp_port:
        tries.append((socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", tcp_port)))
    if abstract_name:
        tries.append((socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract_name))
    return not any(_reached(*one) for one in tries)


def environment_clean(words: list[str]) -> bool | None:
    """Whether pid 1 of the box carries no environment and none of `words` on its command line."""
    try:
        with open("/proc/1/environ", "rb") as file:  # noqa: PTH123
            environment = file.read()
        with open("/proc/1/cmdline", "rb") as file:  # noqa: PTH123
            command = file.read()
    except OSError:
        return None
    return not environment and not any(word.encode() in command for word in words)


def look(ask: Questions) -> Answers:
    """Answer all questions; None where something was not asked or cannot be told."""
    visible = _listed(ask.home) if ask.home else None
    others = [name for name in _listed("/proc") or [] if name.isdigit() and name != "1"]
    return {
        "home_absent": None if not ask.home else set(visible or []) <= set(ask.home_allowed),
        "hidden_absent": all(map(out_of_reach, ask.hidden)) if ask.hidden else None,
        "acceptance_read_only": all(map(refuses_writes, ask.read_only)) if ask.read_only else None,
        "network_refused": network_refused(ask.tcp_port, ask.abstract_name) if ask.network else None,
        "environment_clean": environment_clean(ask.secret_words) if ask.pid_namespace else None,
        "kernel_read_only": all(map(refuses_writes, filter(os.path.lexists, _KERNEL))),
        "processes_hidden": not others if ask.pid_namespace else False,
    }
