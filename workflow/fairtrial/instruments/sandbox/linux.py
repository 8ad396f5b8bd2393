"""Linux calls that Python has no name for. Importable anywhere; where a call is missing it raises OSError."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import signal
import struct
import sys
from collections.abc import Callable

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
NS_GET_USERNS = 0xB701
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_PIDFD_GET_INFO = 0xC040FF0B  # _IOWR(0xFF, 11, 64 bytes): linux/pidfd.h
_PIDFD_INFO_EXIT = 1 << 3


@functools.cache
def libc() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def prctl(option: int, argument: int) -> None:
    """prctl(2) with one argument; OSError where it fails or is missing (macOS)."""
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "prctl is Linux only")
    _checked(libc().prctl(option, ctypes.c_ulong(argument), 0, 0, 0), "prctl")


def become_subreaper(on: bool = True) -> None:
    """Let orphaned descendants be handed to this process (or no longer)."""
    prctl(_PR_SET_CHILD_SUBREAPER, int(on))


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """A signal for this process when the thread that started it ends."""
    prctl(_PR_SET_PDEATHSIG, number)


def dying_with(parent: int) -> Callable[[], None]:
    """For a child before its exec: bwrap asks for the signal itself, but only once it has started.

    A runner killed before that would leave a box whose gate reads end of file and opens.
    """
    prctl_call, getppid = libc().prctl, os.getppid  # looked up here: a forked child should do as little as it can

    def before_exec() -> None:
        prctl_call(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if getppid() != parent:
            os._exit(127)

    return before_exec


def no_new_privileges() -> None:
    """setuid programs give nothing any more; needed before Landlock and seccomp."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def syscall(number: int, *arguments: object) -> int:
    """A raw system call; OSError on failure."""
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "raw calls are Linux only")
    call = libc().syscall
    call.restype = ctypes.c_long
    return _checked(int(call(ctypes.c_long(number), *arguments)), f"syscall {number}")


def join_namespace(fd: int, kind: int) -> None:
    """setns(2)."""
    _checked(libc().setns(fd, kind), "setns")


def wait_status(pidfd: int) -> int | None:
    """The wait status of an ended process of any parent (kernel 6.15 and later), else None."""
    import fcntl

    buffer = bytearray(struct.pack("<Q", _PIDFD_INFO_EXIT).ljust(64, b"\0"))
    try:
        fcntl.ioctl(pidfd, _PIDFD_GET_INFO, buffer)
    except OSError:
        return None
    mask = struct.unpack_from("<Q", buffer)[0]
    return int(struct.unpack_from("<i", buffer, 60)[0]) if mask & _PIDFD_INFO_EXIT else None


def drop_capabilities() -> None:
    """Root without its powers, for good (after no_new_privileges): it still owns files, it no longer rules."""
    header = ctypes.create_string_buffer(struct.pack("<Ii", 0x20080522, 0), 8)
    _checked(libc().capset(header, ctypes.create_string_buffer(24)), "capset")
