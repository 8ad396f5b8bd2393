"""The Python shim: what shim.c does, where there is no C compiler. Copied into the box; read shim.c for the reasons.

It imports only what the interpreter has built in or loads in a blink: every import is paid at every command.
Differences: argv[0] is the name, a command starts with SIGPIPE and SIGXFSZ at their defaults (the interpreter
changes them before we can look), a signal from a terminal is told apart by its number alone, and no interpreter
starts with a folder as standard input.
"""

import _signal  # type: ignore[import-not-found, unused-ignore]
import _socket
import posix
import time

PIECE, LOW_FD, REFUSED, PATIENCE = 60000, 100, 42, 10.0
SPAN = b"FAIRTRIAL_SPAN"


def now() -> int:
    """ns of the monotonic clock."""
    return time.monotonic_ns()


def high(fd: int) -> int:
    """Move a descriptor of ours out of the way."""
    place = LOW_FD
    while True:
        try:
            posix.fstat(place)
            place += 1
        except OSError:
            break
    try:
        posix.dup2(fd, place, False)
    except OSError:
        return fd
    posix.close(fd)
    return place


def no_core() -> None:
    """No core dump of ours where the command has left one."""
    try:
        import _ctypes

        prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[attr-defined, arg-type, unused-ignore]
        _ctypes.call_function(prctl, (4, 0))  # type: ignore[attr-defined, arg-type, unused-ignore]
    except Exception:
        return


def content(path: str | bytes) -> bytes:
    """All bytes of a small file."""
    fd, parts = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC), []
    while part := posix.read(fd, 1 << 20):
        parts.append(part)
    posix.close(fd)
    return b"".join(parts)


class Setup:
    """What the configuration and the environment say about this call."""

    def __init__(self) -> None:
        self.started = now()
        words = content("/proc/self/cmdline").split(b"\0")[:-1]
        _, config, self.name = content(words[2]).split(b"\n")[:3]
        rows = [line.split(b"\t") for line in content(config).split(b"\n")]
        self.rows = rows
        one = {r[0]: r[1] for r in rows if len(r) == 2}
        self.socket, self.cap, self.sync = one[b"socket"], int(one[b"cap"]), one[b"sync"] == b"1"
        self.real, self.seen, self.kinds = next(
            (r[2], r[3], r[4]) for r in rows if r[0] == b"command" and r[1] == self.name
        )
        folder = words[2].rpartition(b"/")[0]
        called = self.name if folder.endswith(b"/shims") else words[2]
        self.argv = [called, *words[3:]]
        self.given = list(self.argv)
        if b"i" in self.kinds and b"/" not in called:
            self.argv[0] = self.seen
        self.read_environment()

    def read_environment(self) -> None:
        """As the kernel gave it: the interpreter may have changed its own copy."""
        pairs = [e.split(b"=", 1) for e in content("/proc/self/environ").split(b"\0") if b"=" in e[1:]]
        pairs = [p for p in pairs if p[0]]  # execve of the interpreter takes no empty name
        self.env = {p[0]: p[1] for p in pairs}
        above = (self.env.pop(SPAN, b"") + b":::").split(b":", 3)
        self.depth, self.parent = int(above[0]) if above[0].isdigit() and len(above[0]) < 5 else 0, above[1]
        self.inside_tool = self.depth > 0 and above[2] == b"v"
        self.span = b"%x-%x" % (self.started, posix.getpid())
        kind = b"v" if b"v" in self.kinds else b"p"
        self.names, self.shlvl = len(self.env), b"SHLVL" in self.env
        self.marked = {SPAN: b"%d:%b:%b:%b" % (self.depth + 1, self.span, kind, self.name), **self.env}

    def refusal(self) -> bytes:
        """Why the policy forbids this call, else b''."""
        valued = {r[2] for r in self.rows if r[0] == b"value" and r[1] == self.name}
        plain, skip = [], False
        for word in self.argv[1:]:
            if skip:
                skip = False
            elif word.startswith(b"-"):
                skip = word in valued
            else:
                plain.append(word)
        for row in self.rows:
            if len(row) == 4 and row[0] == b"refuse" and row[1] == self.name and not self.inside_tool:
                wanted = row[2].split(b" ")
                if wanted == [b"*"] or plain[: len(wanted)] == wanted:
                    return row[3]
        return b""


class Line:
    """The connection to the recorder; once it fails it stays silent, the command goes on."""

    def __init__(self, path: bytes) -> None:
        self.link: _socket.socket | None = None
        try:
            link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
            self.link = _socket.socket(fileno=high(link.detach()))
            self.link.settimeout(PATIENCE)
            self.link.connect(path)
        except OSError:
            self.link = None

    def tell(self, message: bytes) -> None:
        """One message."""
        if self.link:
            try:
                self.link.send(message)
            except OSError:
                self.link = None

    def answer(self, seconds: float) -> bytes:
        """One byte, b'' when none came."""
        if not self.link:
            return b""
        try:
            self.link.settimeout(seconds)
            return self.link.recv(1)
        except OSError:
            self.link = None
            return b""

    def start(self, s: Setup, flags: bytes) -> None:
        """The start message and as many for the arguments as it takes."""
        try:
            cwd = posix.getcwdb()
        except OSError:
            cwd = b""
        body = b"".join(a + b"\0" for a in s.given)
        numbers = (s.started, posix.getpid(), posix.getppid(), posix.getsid(0), posix.getpgrp(), s.shlvl, s.names)
        head = b"\0".join(
            [
                b"S",
                b"p",
                s.span,
                s.parent,
                b"%d" % s.depth,
                s.name,
                *(b"%d" % n for n in numbers),
                flags,
                b"%d" % len(s.given),
                b"%d" % len(body),
                cwd,
                b"",
            ]
        )
        first = PIECE - len(head)
        self.tell(head + body[:first])
        for at in range(first, len(body), PIECE):
            self.tell(b"A" + body[at : at + PIECE])

    def end(self, status: int, number: int, totals: tuple[int, int], out: bytes = b"", err: bytes = b"") -> None:
        """The end message with the last pieces of both streams."""
        if len(out) + len(err) > PIECE - 512:
            self.tell(b"O" + out)
            out = b""
        fields = (now(), status, number, *totals, len(out), len(err))
        self.tell(b"E\0" + b"".join(b"%d\0" % f for f in fields) + out + err)


def become(s: Setup, argv: list[bytes], env: dict[bytes, bytes], first_mask: set[int]) -> None:
    """Turn into the real command."""
    for number in (13, 25):
        _signal.signal(number, _signal.SIG_DFL)
    if _signal.getsignal(2) != _signal.SIG_IGN:
        _signal.signal(2, _signal.SIG_DFL)
    _signal.pthread_sigmask(_signal.SIG_SETMASK, first_mask)
    try:
        posix.execve(s.real, argv, env)
    except OSError as problem:
        error = problem.errno
        if error == 8:  # a script without its first line
            posix.execve(b"/bin/sh", [b"/bin/sh", s.real, *argv[1:]], env)
        posix.write(2, b"fairtrial: %b: %b\n" % (s.seen, posix.strerror(error or 0).encode()))
    posix._exit(127 if error == 2 else 126)


def main() -> None:
    """Be the command whose script was called: its lines 2 and 3 are the configuration and the name. Never returns."""
    first_mask = _signal.pthread_sigmask(_signal.SIG_SETMASK, _signal.valid_signals())
    s = Setup()
    why = s.refusal()
    line = Line(s.socket)
    if why:
        line.start(s, b"r")
        line.end(REFUSED, 0, (-1, -1))
        if line.answer(PATIENCE) == b"w":
            line.answer(0.3)
        posix.write(2, b"fairtrial: %b: %b\n" % (s.name, why))
        posix._exit(REFUSED)
    if s.depth > 0:
        line.start(s, b"n")
        line.answer(PATIENCE)
        become(s, s.argv, s.marked, first_mask)
    from .run import Run

    try:
        run = Run(s, line, first_mask)
    except OSError:  # no descriptor is left for us
        line.start(s, b"n")
        line.answer(PATIENCE)
        become(s, s.argv, s.env, first_mask)
    run.run()
