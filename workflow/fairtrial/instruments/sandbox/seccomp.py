"""The system-call filter of the box: a small BPF program, assembled by hand.

Refused with EPERM are the calls by which one process of the agent could read or steer another (the recorder's
acknowledgement and pid 1 stand on that), the key rings and the big attack surfaces nobody needs to edit code.
A foreign architecture (32-bit calls, x32) gets ENOSYS, otherwise it would be a way around the filter.
"""

from __future__ import annotations

import errno
import os
import struct
import sys

_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_*
_REFUSED = {
    "x86_64": {
        "ptrace": 101, "keyctl": 250, "add_key": 248, "request_key": 249, "perf_event_open": 298,
        "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "bpf": 321, "userfaultfd": 323,
        "pidfd_getfd": 438,
    },
    "aarch64": {
        "ptrace": 117, "keyctl": 219, "add_key": 217, "request_key": 218, "perf_event_open": 241,
        "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272, "bpf": 280, "userfaultfd": 282,
        "pidfd_getfd": 438,
    },
}  # fmt: skip
_X32 = 0x40000000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF_LD|W|ABS, JMP|JEQ|K, JMP|JGE|K, RET|K
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000


def _machine() -> str:
    """x86_64, aarch64 or whatever the kernel says."""
    found = os.uname().machine
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(found.lower(), found)


def refused_calls(machine: str | None = None) -> dict[str, int]:
    """Name -> number of the refused calls on this machine; empty where there is no filter for it."""
    return dict(_REFUSED.get(machine or _machine(), {})) if sys.platform == "linux" else {}


def program(machine: str | None = None) -> bytes:
    """The filter as struct sock_filter[]; b'' where there is none for this machine."""
    machine = machine or _machine()
    numbers = sorted(refused_calls(machine).values())
    if not numbers:
        return b""
    code: list[tuple[int, int, int, int]] = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, _ARCH[machine])]
    code.append((_RETURN, 0, 0, _ERRNO | errno.ENOSYS))
    code.append((_LOAD, 0, 0, 0))
    if machine == "x86_64":
        code.append((_AT_LEAST, 0, 1, _X32))
        code.append((_RETURN, 0, 0, _ERRNO | errno.ENOSYS))
    for position, number in enumerate(numbers):
        code.append((_EQUAL, len(numbers) - position, 0, number))
    code.append((_RETURN, 0, 0, _ALLOW))
    code.append((_RETURN, 0, 0, _ERRNO | errno.EPERM))
    return b"".join(struct.pack("<HBBI", *step) for step in code)


def apply() -> bool:
    """Put this process under the filter (after no_new_privileges); False where that cannot be had."""
    import ctypes

    from fairtrial.instruments.sandbox import linux

    code = program()
    if not code:
        return False
    kept = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(kept))
    try:
        result = linux.libc().prctl(22, ctypes.c_ulong(2), ctypes.create_string_buffer(header, len(header)), 0, 0)
    except AttributeError:
        return False
    return int(result) == 0
