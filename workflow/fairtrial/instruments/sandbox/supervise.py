"""Runs as a program of its own where no box can be built: stays behind as the parent of everything the agent starts.

Started with the standard streams of the agent, a plan (JSON) and two more descriptors: one to report on, one to
wait at. The agent's process puts Landlock, the system-call filter and the limits on itself, asks the canaries,
waits, and becomes the agent. The supervisor collects orphans until it is killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from fairtrial.instruments.sandbox import canary, landlock, linux, processes, seccomp


def _say(fd: int, **what: object) -> None:
    os.write(fd, json.dumps(what).encode() + b"\n")


def _limit(limits: dict[str, int]) -> None:
    for name, value in limits.items():
        what = getattr(resource, name, None)
        if what is None:
            continue
        _, hard = resource.getrlimit(what)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (most, most))


def _become_agent(plan: dict[str, Any], report: int, gate: int) -> NoReturn:
    try:
        os.setsid()
        os.chdir(plan["cwd"])
        _limit(plan["limits"])
        filtered = False
        if sys.platform == "linux":
            linux.die_with_parent()
            linux.no_new_privileges()
            linux.drop_capabilities()
            if plan["landlock"]:
                landlock.restrict(plan["readable"], plan["writable"], plan["ports"])
            filtered = seccomp.apply()
        _say(report, answers=canary.look(canary.Questions(**plan["questions"])), seccomp=filtered)
        if os.read(gate, 1) != b"g":
            os._exit(126)
        os.set_inheritable(report, False)  # an exec that fails is said there
        os.closerange(3, report)
        os.closerange(report + 1, max(report, gate) + 1)
        os.execvpe(plan["argv"][0], plan["argv"], plan["env"])  # noqa: S606
    except BaseException as problem:  # a forked child must never return
        with contextlib.suppress(OSError):
            os.write(2, f"{plan['argv'][0]}: {problem}\n".encode())
        with contextlib.suppress(OSError):
            _say(report, error=str(problem))
        os._exit(127)


def _end_all(number: int, frame: object) -> NoReturn:
    """The runner is gone: nobody else would end what the agent left behind."""
    processes.kill_below(os.getpid(), set())
    os._exit(1)


def main(plan_fd: int, report: int, gate: int) -> None:
    """Start the agent of the plan, report its pid and its wait status, collect orphans, wait to be killed."""
    with os.fdopen(plan_fd, "rb") as file:
        plan = json.load(file)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end_all)
    if sys.platform == "linux":
        linux.become_subreaper()
        linux.die_with_parent(signal.SIGTERM)
        if os.getppid() != plan["runner"]:
            return
    agent = os.fork()
    if agent == 0:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        _become_agent(plan, report, gate)
    empty = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2, gate):
        os.dup2(empty, fd)
    _say(report, main=agent)
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            signal.pause()
            continue
        if pid == agent:
            _say(report, status=status)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:4]))
