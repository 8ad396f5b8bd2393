"""The Python shim's other half: run the command, pass its streams and signals through, report how it ended."""

import _signal  # type: ignore[import-not-found, unused-ignore]
import fcntl
import posix
import select

from . import PATIENCE, Line, Setup, become, high, no_core

KEEP = 32768
CHARACTER = 0o020000
TERMINAL = (1, 2, 3, 18, 20, 28)
LEFT_ALONE = (4, 5, 7, 8, 9, 11, 13, 17, 19, 31)


class Stream:
    """stdout or stderr on its way through."""

    def __init__(self, out: int, letter: bytes, cap: int) -> None:
        self.out, self.letter, self.cap = out, letter, cap
        self.pipe, self.end, self.total, self.kept = -1, -1, 0, 0
        self.held = bytearray()
        self.refused = 0
        if out:
            read, write = posix.pipe()
            self.pipe, self.end = high(read), high(write)

    def send(self, line: Line) -> None:
        """What is held, to the recorder."""
        if self.held:
            line.tell(self.letter + bytes(self.held))
            self.held.clear()

    def shut(self) -> None:
        """No more from here."""
        if self.pipe >= 0:
            posix.close(self.pipe)
        self.pipe = -1

    def move(self, line: Line | None, most: int = 65536) -> int:
        """Pass one piece on; its size, 0 at the end, -1 when there is nothing now."""
        try:
            data = posix.read(self.pipe, most)
        except BlockingIOError:
            return -1
        if line:
            self.total += len(data)
            part = data[: max(self.cap - self.kept, 0)]
            self.kept += len(part)
            self.held += part
            while len(self.held) >= KEEP:
                line.tell(self.letter + bytes(self.held[:KEEP]))
                del self.held[:KEEP]
        if not data or not self.put(data):
            self.shut()
            return 0
        return len(data)

    def put(self, data: bytes) -> bool:
        """Write it all; False when nobody takes it."""
        view = memoryview(data)
        while view:
            try:
                view = view[posix.write(self.out, view) :]
            except BlockingIOError:
                waits = select.poll()
                waits.register(self.out, select.POLLOUT)
                waits.poll()
            except OSError as problem:
                self.refused = problem.errno or 5
                return False
        return True


def captured(fd: int) -> tuple[int, int] | None:
    """Device and inode of a stream worth capturing; None: closed, or a character device."""
    try:
        st = posix.fstat(fd)
    except OSError:
        return None
    return None if st.st_mode & 0o170000 == CHARACTER else (st.st_dev, st.st_ino)


def tie(ends: list[int]) -> None:
    """Be killed when nobody holds one of these ends of a pipe any more: what PR_SET_PDEATHSIG does, which needs ctypes,
    0.5 ms to import. Which end a dying process lets go first is the kernel's choice, so both are armed."""
    for end in ends:
        fcntl.fcntl(end, fcntl.F_SETOWN, posix.getpid())
        fcntl.fcntl(end, fcntl.F_SETSIG, 9)
        fcntl.fcntl(end, fcntl.F_SETFL, fcntl.FASYNC)


class Run:
    """One command at depth 0."""

    def __init__(self, setup: Setup, line: Line, first_mask: set[int]) -> None:
        self.setup, self.line, self.first_mask = setup, line, first_mask
        one, two = captured(1), captured(2)
        self.merged = one is not None and one == two
        both = not self.merged and two is not None
        self.out, self.err = Stream(1 if one else 0, b"O", setup.cap), Stream(2 if both else 0, b"R", setup.cap)
        self.flags = b"o" * bool(one) + b"e" * both + b"m" * self.merged
        self.wake = [high(fd) for fd in posix.pipe()]
        self.ends = [high(fd) for fd in posix.pipe()] if hasattr(fcntl, "F_SETSIG") else []
        self.child, self.status, self.tty = 0, 0, False
        self.on_child = _signal.getsignal(17)
        self.handled = [n for n in _signal.valid_signals() if n not in LEFT_ALONE and _signal.getsignal(n) in (None, 0)]
        if _signal.getsignal(2) not in (_signal.SIG_IGN, 0):
            self.handled.append(2)

    def run(self) -> None:
        """From start to end; leaves the process."""
        self.line.start(self.setup, self.flags)
        byte = b""
        if self.setup.sync or posix.getppid() == 1:
            byte = self.line.answer(PATIENCE)
        if byte == b"x":
            become(self.setup, self.setup.argv, self.setup.env, self.first_mask)
        self.watch_child()
        try:
            self.spawn()
        except OSError:  # no process is left for us
            byte or self.line.answer(PATIENCE)
            self.restore_child()
            become(self.setup, self.setup.argv, self.setup.env, self.first_mask)
        self.stand_aside()
        self.catch()
        self.pump(self.wake[0])
        late = self.drain()
        self.finish(byte, late)

    def watch_child(self) -> None:
        """A descriptor becomes readable when the child's state changes."""
        for fd in self.wake:
            posix.set_blocking(fd, False)
        _signal.set_wakeup_fd(self.wake[1], warn_on_full_buffer=False)
        _signal.signal(17, lambda *_: None)

    def spawn(self) -> None:
        """The real command, with the streams, signals and mask it would have had."""
        parent = posix.getpid()
        self.child = posix.fork()
        if self.child:
            for stream in (self.out, self.err):
                if stream.end >= 0:
                    posix.close(stream.end)
            return
        tie(self.ends)
        if posix.getppid() != parent:
            posix._exit(127)
        if self.out.end >= 0:
            posix.dup2(self.out.end, 1)
            if self.merged:
                posix.dup2(self.out.end, 2)
        if self.err.end >= 0:
            posix.dup2(self.err.end, 2)
        self.restore_child()
        become(self.setup, self.setup.argv, self.setup.marked, self.first_mask)

    def restore_child(self) -> None:
        """SIGCHLD as the command would have had it."""
        _signal.set_wakeup_fd(-1)
        _signal.signal(17, self.on_child or _signal.SIG_DFL)

    def stand_aside(self) -> None:
        """See shim.c."""
        try:
            posix.close(posix.open("/dev/tty", posix.O_RDWR | posix.O_NOCTTY | posix.O_CLOEXEC))
            self.tty = True
        except OSError:
            if posix.getpgrp() != posix.getpid():
                posix.setpgid(0, 0)

    def catch(self) -> None:
        """Pass on what is sent to us."""

        def forward(number: int, _: object) -> None:
            if self.child and not (self.tty and number in TERMINAL):
                posix.kill(self.child, number)

        for number in self.handled:
            _signal.signal(number, forward)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, [])

    def reap(self, flags: int) -> bool:
        """Whether the command has ended."""
        every = _signal.pthread_sigmask(_signal.SIG_BLOCK, _signal.valid_signals())
        pid, status = posix.waitpid(self.child, flags | (posix.WUNTRACED if self.tty else 0))
        stopped = bool(pid) and posix.WIFSTOPPED(status)
        if pid and not stopped:
            self.child, self.status = 0, status
        _signal.pthread_sigmask(_signal.SIG_SETMASK, every)
        if stopped:
            number = posix.WSTOPSIG(status)
            before = None if number == 19 else _signal.signal(number, _signal.SIG_DFL)
            posix.kill(posix.getpid(), number)
            if before is not None:
                _signal.signal(number, before)
        return self.child == 0

    def pump(self, wake: int) -> None:
        """Until the command has ended."""
        poll, by_fd = select.poll(), {s.pipe: s for s in (self.out, self.err) if s.pipe >= 0}
        for fd in (wake, *by_fd):
            poll.register(fd, select.POLLIN)
        while by_fd:
            ready = poll.poll(500 if self.out.held or self.err.held else None)
            for fd, _ in ready:
                if fd == wake:
                    posix.read(wake, 4096)
                    if self.reap(posix.WNOHANG):
                        return
                elif fd in by_fd and by_fd[fd].move(self.line) == 0:
                    poll.unregister(fd)
                    del by_fd[fd]
            if not ready:
                self.out.send(self.line)
                self.err.send(self.line)
        while not self.reap(0):
            continue

    def drain(self) -> bool:
        """What stood in the pipes at the end; True when someone still holds one."""
        for stream in (self.out, self.err):
            if stream.pipe >= 0:
                posix.set_blocking(stream.pipe, False)
                taken = size = 0
                while (size := stream.move(self.line)) > 0 and taken < 1 << 20:
                    taken += size
        return self.out.pipe >= 0 or self.err.pipe >= 0

    def finish(self, byte: bytes, late: bool) -> None:
        """Report, let late writers be, and end the way the command ended."""
        out, err = self.out, self.err
        status, number = self.settle()
        totals = (out.total if out.out else -1, err.total if err.out else -1)
        self.line.end(status, number, totals, bytes(out.held), bytes(err.held))
        byte = byte or self.line.answer(PATIENCE)
        if byte == b"w":
            self.line.answer(0.3)
        if late:
            self.serve_late()
        if number:
            no_core()
            if number in _signal.valid_signals() and number not in (9, 19):
                _signal.signal(number, _signal.SIG_DFL)
            posix.kill(posix.getpid(), number)
        posix._exit(128 + number if number else status)

    def settle(self) -> tuple[int, int]:
        """Exit status (-1: none) and signal, as if the command itself had met what we met when writing for it."""
        status = posix.WEXITSTATUS(self.status) if posix.WIFEXITED(self.status) else -1
        number = posix.WTERMSIG(self.status) if posix.WIFSIGNALED(self.status) else 0
        why = self.out.refused or self.err.refused
        if not why or (status != 0 and number != 13):
            return status, number
        if why in (27, 32):
            return -1, 25 if why == 27 else 13
        try:
            posix.write(2, b"%b: write error: %b\n" % (self.setup.name, posix.strerror(why).encode()))
        except OSError:
            return 1, 0
        return 1, 0

    def serve_late(self) -> None:
        """Late background writers: their bytes arrive, nobody waits for us."""
        try:
            if posix.fork():
                return
        except OSError:
            return
        self.line.link = None
        for fd in (0, *(s.out or fd for fd, s in ((1, self.out), (2, self.err)) if s.pipe < 0)):
            try:
                posix.close(fd)
            except OSError:
                continue
        posix.chdir("/")
        for number in self.handled:
            _signal.signal(number, _signal.SIG_DFL)
        poll, by_fd = select.poll(), {s.pipe: s for s in (self.out, self.err) if s.pipe >= 0}
        for fd in by_fd:
            posix.set_blocking(fd, True)
            poll.register(fd, select.POLLIN)
        while by_fd:
            for fd, _ in poll.poll():
                if by_fd[fd].move(None) == 0:
                    poll.unregister(fd)
                    del by_fd[fd]
        posix._exit(0)
