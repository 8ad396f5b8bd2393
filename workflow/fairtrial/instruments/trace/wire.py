"""The messages a shim sends to the recorder: one SOCK_SEQPACKET message each, fields ended by NUL.

    S  kind, span, parent span, depth, command, start ns, pid, ppid, sid, pgid, SHLVL set, environment names, flags,
       argument count, argument bytes, cwd, then argument bytes (each argument ended by NUL)
    A  more argument bytes
    O, R   captured bytes of stdout (or of both, merged) and of stderr
    E  end ns, exit status (-1: none), signal (0: none), stdout bytes, stderr bytes (-1: not captured),
       lengths of the last captured pieces, then those bytes

Flags: o, e captured; m merged; n nested (records the start, then becomes the command); r refused.
The recorder answers S with one byte: k go on; w wait for one more byte after E; x you are the agent program itself.
Numbers are those seen inside the box; ns of the monotonic clock.
"""

from __future__ import annotations

from fairtrial.contracts.lean import lean

START_FIELDS = 16  # between the letter and the argument bytes
END_FIELDS = 7
KINDS = {"c": "compiled", "p": "python"}
_NUMBERS = 1 << 62  # no number a shim sends is as large; one that is would be none to any table
MESSAGE = 1 << 17  # more than any message a shim sends


@lean
class Start:
    """What the shim says when a command starts."""

    shim: str
    span: str
    parent: str
    depth: int
    command: str
    started_ns: int
    pid: int
    ppid: int
    sid: int
    pgid: int
    shlvl: bool
    env_names: int
    flags: str
    count: int
    argv_bytes: int
    cwd: str
    argv: bytearray


@lean(frozen=True)
class End:
    """What the shim says when it ended; the last pieces of its output come along."""

    ended_ns: int
    exit_status: int | None
    signal: int | None
    stdout_bytes: int | None
    stderr_bytes: int | None
    stdout: bytes
    stderr: bytes


def text(raw: bytes) -> str:
    """UTF-8; other bytes become surrogate escapes, so that nothing is lost."""
    return raw.decode("utf-8", "surrogateescape")


def _number(raw: bytes) -> int:
    value = int(raw)
    if not -_NUMBERS < value < _NUMBERS:
        raise ValueError("not a number of a shim")
    return value


def read_start(message: bytes) -> Start:
    """Raises ValueError on anything a shim would not send."""
    part = message.split(b"\0", START_FIELDS + 1)
    if len(part) != START_FIELDS + 2 or part[0] != b"S" or text(part[1]) not in KINDS:
        raise ValueError("not a start message")
    depth, started, pid, ppid, sid, pgid = (_number(part[i]) for i in (4, 6, 7, 8, 9, 10))
    return Start(
        shim=KINDS[text(part[1])], span=text(part[2])[:100], parent=text(part[3])[:100], depth=max(depth, 0),
        command=text(part[5])[:200], started_ns=started, pid=pid, ppid=ppid, sid=sid, pgid=pgid,
        shlvl=part[11] == b"1", env_names=_number(part[12]), flags=text(part[13])[:10], count=_number(part[14]),
        argv_bytes=_number(part[15]), cwd=text(part[16]), argv=bytearray(part[17]),
    )  # fmt: skip


def read_end(message: bytes) -> End:
    """Raises ValueError on anything a shim would not send."""
    part = message.split(b"\0", END_FIELDS + 1)
    if len(part) != END_FIELDS + 2 or part[0] != b"E":
        raise ValueError("not an end message")
    ended, status, number, out, err, held_out, held_err = (_number(p) for p in part[1 : END_FIELDS + 1])
    rest = part[END_FIELDS + 1]
    return End(
        ended_ns=ended,
        exit_status=status if status >= 0 else None,
        signal=number or None,
        stdout_bytes=out if out >= 0 else None,
        stderr_bytes=err if err >= 0 else None,
        stdout=rest[:held_out],
        stderr=rest[held_out : held_out + held_err],
    )


def arguments(start: Start) -> list[str]:
    """The argument list as it was given, whole or as far as it was kept."""
    if not start.count:
        return []
    raw = bytes(start.argv)
    return [text(a) for a in (raw[:-1] if raw.endswith(b"\0") else raw).split(b"\0")][: start.count]
