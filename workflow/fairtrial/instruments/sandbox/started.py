"""What the watching loop needs of a started box, whatever built it."""

from __future__ import annotations

import os
import signal
import socket
from typing import Protocol

from fairtrial.contracts.lean import field, lean
from fairtrial.instruments.sandbox import canary
from fairtrial.instruments.sandbox.backends import Backend


class Started(Protocol):
    """A process in its box, built and held back until `release`."""

    backend: Backend
    answers: canary.Answers
    lacking: list[str]  # what could not be had this time, in words
    listener: socket.socket | None
    main: int  # host pid of the agent's main process; 0 when it ended before it was seen
    done_fd: int  # readable when the main process has ended

    def release(self) -> None:
        """Let the agent begin; sets `main` and `done_fd`."""

    def send(self, number: int) -> None:
        """A signal to the main process."""

    def end(self) -> int:
        """End everything; returns how many processes besides the main one were still alive. Safe to repeat."""

    def status(self) -> tuple[int | None, int | None]:
        """Exit status and signal of the main process, after `end`."""

    def unstarted(self) -> bool:
        """After `end`: was the program refused by the system, so that nothing of it ever ran?

        Told by what started it, never by its output or its exit status, which any program can imitate.
        """

    def close(self) -> None:
        """Give descriptors back."""


@lean
class Ends:
    """The near ends (ours) and far ends (the agent's) of its three standard streams, as descriptors."""

    near: list[int]
    far: list[int] = field(default_factory=list)

    def close_far(self) -> None:
        """After the start: only the agent may hold them, or the end of a stream is never seen."""
        for fd in self.far:
            os.close(fd)
        self.far.clear()

    def close(self) -> None:
        """Close whatever is left."""
        self.close_far()
        for fd in self.near:
            os.close(fd)
        self.near.clear()


def socket_ends() -> Ends:
    """Socket pairs: unlike files and pipes they cannot be opened again through /proc/PID/fd and forged."""
    pairs = [socket.socketpair() for _ in range(3)]
    pairs[0][0].shutdown(socket.SHUT_RD)  # writing to its stdin fails at once instead of blocking later
    return _ends([(a.detach(), b.detach()) for a, b in pairs])


def pipe_ends() -> Ends:
    """Ordinary pipes, for product code under a verifier: /dev/stdin and /dev/stderr work as in a shell."""
    read_in, write_in = os.pipe()
    return _ends([(write_in, read_in), os.pipe(), os.pipe()])


def _ends(pairs: list[tuple[int, int]]) -> Ends:
    for near, _ in pairs:
        os.set_blocking(near, False)
    return Ends([near for near, _ in pairs], [far for _, far in pairs])


def decode(wait_status: int) -> tuple[int | None, int | None]:
    """Exit status and signal from a wait status."""
    if os.WIFSIGNALED(wait_status):
        return None, os.WTERMSIG(wait_status)
    return os.WEXITSTATUS(wait_status), None


def decode_shell(code: int, sent: set[int]) -> tuple[int | None, int | None]:
    """The same from a status in the shell's convention (128 + signal): a signal only when we sent that one."""
    if code < 0:
        return None, -code
    if code > 128 and code - 128 in sent | {int(signal.SIGKILL)} and sent:
        return None, code - 128
    return code, None
