"""Landlock by raw system calls: file and TCP rules a process puts on itself, where no box can be built."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable

from fairtrial.instruments.sandbox import linux

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_BIND_TCP, _CONNECT_TCP = 1, 2
_FILE_ONLY = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
READ = _EXECUTE | _READ_FILE | _READ_DIR


def abi() -> int:
    """Landlock's version in this kernel, 0 where there is none."""
    if sys.platform != "linux":
        return 0
    try:
        return linux.syscall(_CREATE, ctypes.c_void_p(None), ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


def lacking(version: int) -> list[str]:
    """What Landlock of this version does not give, in words."""
    missing = ["files can still be looked up by name", "no process isolation", "chmod is not covered"]
    missing.append("acceptance is a copy that can be written")
    missing.append("no network isolation" if version < 4 else "UDP is not covered")
    if version < 3:
        missing.append("truncating is not covered")
    if version < 6:
        missing.append("signals to other processes are not covered")
    return missing


def _every_right(version: int) -> int:
    rights = (1 << 13) - 1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL)):
        rights |= right if version >= since else 0
    return rights


def restrict(readable: Iterable[str], writable: Iterable[str], ports: Iterable[int] | None) -> None:
    """Leave this process and its children only `readable` and `writable` trees and, with `ports` not None, only
    TCP connections to those ports. After no_new_privileges. OSError when the kernel refuses."""
    version = abi()
    everything = _every_right(version)
    net = (_BIND_TCP | _CONNECT_TCP) if version >= 4 and ports is not None else 0
    scope = 3 if version >= 6 else 0  # abstract sockets and signals stay inside
    size = 8 if version < 4 else 16 if version < 6 else 24
    attributes = ctypes.create_string_buffer(struct.pack("<QQQ", everything, net, scope)[:size], size)
    ruleset = linux.syscall(_CREATE, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for paths, rights in ((readable, READ), (writable, everything)):
            for path in paths:
                _allow(ruleset, path, rights & everything)
        for port in (ports or ()) if net else ():
            rule = ctypes.create_string_buffer(struct.pack("<QQ", _CONNECT_TCP, port), 16)
            linux.syscall(_ADD, ctypes.c_int(ruleset), ctypes.c_int(2), rule, ctypes.c_uint32(0))
        linux.syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        if not os.path.isdir(path):  # noqa: PTH112
            rights &= _FILE_ONLY
        rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, fd), 12)
        linux.syscall(_ADD, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0))
    finally:
        os.close(fd)
