"""Start a process under Landlock or as a plain one, with a supervisor as the parent of all it leaves behind."""

from __future__ import annotations

import contextlib
import filecmp
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.lean import as_dict
from fairtrial.contracts.protocols import Box
from fairtrial.instruments.sandbox import canary, cgroups, layout, processes
from fairtrial.instruments.sandbox.backends import Backend
from fairtrial.instruments.sandbox.started import Ends, decode

_PATIENCE = 20.0
_LAST_WORD = 0.2  # seconds in which the supervisor tells how the agent ended
_READABLE = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/nix/store", "/proc", "/opt")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts")
_NEVER = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh")


class Places:
    """Where the paths of the box are on this machine, for programs that see the machine itself."""

    def __init__(self, box: Box) -> None:
        table = {bind.target: str(bind.source) for bind in box.binds}
        table |= {box.workspace_target: str(box.workspace.resolve()), box.home_target: str(box.home.resolve())}
        self._table = {name: table[name] for name in sorted(table, key=len, reverse=True) if name != table[name]}
        names = "|".join(re.escape(name) for name in self._table)
        self._pattern = re.compile(rf"(?<![\w./-])(?:{names})(?![\w-])") if names else None

    def real(self, text: str) -> str:
        """`text` with every path of the box replaced by the machine's."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._table[found.group()], text)


def _copies(box: Box) -> list[tuple[Path, Path]]:
    """Put a copy where a folder is bound into the workspace or HOME, where nothing can be mounted."""
    made: list[tuple[Path, Path]] = []
    for bind in box.binds:
        for top, real in ((box.workspace_target, box.workspace), (box.home_target, box.home)):
            if not Path(bind.target).is_relative_to(top):
                continue
            place = real / Path(bind.target).relative_to(top)
            if os.path.lexists(place):
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if bind.source.is_dir():
                shutil.copytree(bind.source, place, symlinks=True)
            else:
                shutil.copy2(bind.source, place)
            made.append((place, bind.source))
    return made


def _same(one: Path, other: Path) -> bool:
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink()
    if one.is_dir() and other.is_dir():
        names = sorted(path.name for path in one.iterdir())
        return names == sorted(p.name for p in other.iterdir()) and all(_same(one / n, other / n) for n in names)
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


def _take_back(place: Path, source: Path) -> None:
    """Remove a copy, unless the agent changed it: then it stays, for it is a finding."""
    with contextlib.suppress(OSError):
        if _same(place, source):
            shutil.rmtree(place) if place.is_dir() else place.unlink()


def _tools(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("python3", "python"):
        with contextlib.suppress(FileExistsError):
            (folder / name).symlink_to(layout.interpreter())
    return folder


def _readable(box: Box, tools: Path) -> list[str]:
    listed = [str(layout.interpreter_folder()), str(tools), *(str(bind.source) for bind in box.binds)]
    for top in _READABLE:
        if top == "/etc":  # never the whole folder: as root it holds the password hashes
            listed += [str(path) for path in Path(top).glob("*") if str(path) not in _NEVER]
        else:
            listed.append(top)
    return listed


def plan(box: Box, backend: Backend, ask: canary.Questions, port: int | None, scratch: Path) -> dict[str, Any]:
    """What supervise.py is told, all paths as they are on this machine."""
    # Inner binds have a copy in their place, so only the outer ones are looked up at their source.
    inner = (box.workspace_target, box.home_target)
    outer = [b for b in box.binds if not any(Path(b.target).is_relative_to(top) for top in inner)]
    places = Places(Box(box.workspace, box.home, binds=outer, workspace_target=inner[0], home_target=inner[1]))
    tools, temporary = _tools(scratch / "bin"), scratch / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {name: places.real(value) for name, value in layout.environment(box).items()}
    environment["PATH"] = ":".join([*map(places.real, box.path), str(tools), *layout.SYSTEM_PATH])
    environment |= {"TMPDIR": str(temporary)} if "TMPDIR" not in box.env else {}
    questions = {**as_dict(ask), "read_only": [places.real(path) for path in ask.read_only], "pid_namespace": False}
    ports = None if box.network == "host" else [port] if port is not None else []
    writable = [str(box.workspace), str(box.home), str(temporary), *_DEVICES]
    return {
        "argv": [places.real(word) for word in box.argv], "env": environment, "cwd": str(box.workspace),
        "runner": os.getpid(), "landlock": backend.kind == "landlock", "ports": ports, "questions": questions,
        "readable": _readable(box, tools), "writable": [*writable, *(str(b.source) for b in outer if b.writable)],
        "limits": {"RLIMIT_FSIZE": box.limits.file_bytes, "RLIMIT_CORE": 0, "RLIMIT_NPROC": box.limits.processes},
    }  # fmt: skip


class SupervisedProcess:
    """A process of this machine under a supervisor. See started.Started."""

    def __init__(self, backend: Backend, scratch: Path, copies: list[tuple[Path, Path]]) -> None:
        self.backend = backend
        self.answers: canary.Answers = {}
        self.listener: socket.socket | None = None
        self.main = 0
        self.done_fd = -1
        self._scratch = scratch
        self._copies = copies
        self._supervisor: subprocess.Popen[bytes] | None = None
        # a socket, for a pipe could be opened again below /proc and the report forged
        self._report, inner = (end.detach() for end in socket.socketpair())
        self._gate, inner_gate = socket.socketpair()
        self._inner = [inner, inner_gate.detach()]
        self._said: dict[str, Any] = {}
        self._buffer = b""
        self.lacking: list[str] = []
        self._group = cgroups.Group() if sys.platform == "linux" else None
        self._strangers = processes.children(os.getpid())
        self._ended = False

    def spawn(self, content: dict[str, Any], ends: Ends) -> None:
        """Start the supervisor and wait until the agent stands at the gate."""
        stdin, stdout, stderr = ends.far
        script = str(Path(__file__).with_name("supervise.py"))
        with tempfile.TemporaryFile() as file:
            file.write(json.dumps(content).encode())
            file.seek(0)
            numbers = [file.fileno(), *self._inner]
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", script, *map(str, numbers)], env={}, cwd="/",
                stdin=stdin, stdout=stdout, stderr=stderr, pass_fds=numbers, start_new_session=True,
            )  # fmt: skip
        self._close_inner()
        if self._group is not None:
            self._group.limit(int(content["limits"]["RLIMIT_NPROC"]))
            self._group.take(self._supervisor.pid)
        deadline = time.monotonic() + _PATIENCE
        while not {"main", "answers"} <= set(self._said) and time.monotonic() < deadline:
            if not self._hear(0.5):
                break
        if "error" in self._said or not {"main", "answers"} <= set(self._said):
            raise Fault("sandbox", f"the agent's process cannot be prepared: {self._said.get('error', 'no answer')}")
        self.main = int(self._said["main"])
        self.answers = self._said["answers"]

    def _close_inner(self) -> None:
        for fd in self._inner:
            os.close(fd)
        self._inner.clear()

    def _hear(self, seconds: float) -> bool:
        """Take what the supervisor says within `seconds`; False when it has closed its side."""
        if not select.select([self._report], [], [], seconds)[0]:
            return True
        piece = os.read(self._report, 1 << 16)
        self._buffer += piece
        while b"\n" in self._buffer:
            line, _, self._buffer = self._buffer.partition(b"\n")
            with contextlib.suppress(ValueError):
                self._said |= json.loads(line)
        return bool(piece)

    def _await_status(self) -> None:
        deadline = time.monotonic() + _LAST_WORD
        while "status" not in self._said and time.monotonic() < deadline and self._hear(_LAST_WORD / 4):
            pass

    def release(self) -> None:
        """Let the agent begin."""
        self._gate.send(b"g")
        self.done_fd = self._report

    def send(self, number: int) -> None:
        """A signal to the main process."""
        processes.send(self.main, number)

    def end(self) -> int:
        """End everything below the supervisor, then the supervisor, then what it could not keep."""
        if self._ended or self._supervisor is None:
            return 0
        self._ended = True
        self._hear(0)
        if "error" in self._said:  # nothing began, and its process is about to leave by itself
            self._await_status()
        left = processes.descendants(self._supervisor.pid)
        left |= processes.kill_below(self._supervisor.pid, {self.main})
        self._await_status()
        lost = "status" not in self._said
        self._supervisor.kill()
        self._supervisor.wait()
        if self._group is not None:
            self._group.kill()
        if lost:  # the agent killed its supervisor: its orphans came to us
            own = processes.session(os.getpid())
            for one in processes.children(os.getpid()) - self._strangers:
                if processes.session(one) not in (own, None):
                    left |= {one} | processes.kill_below(one, set())
                    processes.send(one, signal.SIGKILL)
                    os.waitpid(one, 0)
        return len(left - {self.main})

    def status(self) -> tuple[int | None, int | None]:
        """Exit status and signal of the main process."""
        if "status" not in self._said:
            return None, int(signal.SIGKILL)
        return decode(int(self._said["status"]))

    def unstarted(self) -> bool:
        """The agent's process says so itself, on a descriptor that is closed the moment a program begins."""
        return "error" in self._said

    def close(self) -> None:
        """Give descriptors and the scratch folder back; copies of bound folders go, changed ones stay."""
        self._close_inner()
        self._gate.close()
        if self._group is not None:
            self._group.remove()
        if self._report >= 0:
            os.close(self._report)
            self._report = -1
        for place, source in self._copies:
            _take_back(place, source)
        shutil.rmtree(self._scratch, ignore_errors=True)


def start(box: Box, backend: Backend, ends: Ends, ask: canary.Questions, port: int | None) -> SupervisedProcess:
    """Start the supervisor and hold the agent back; with `port`, the endpoint listens on this machine's loopback."""
    beside = box.home.parent  # goes with the attempt's scratch folder, even when the runner is killed
    scratch = Path(tempfile.mkdtemp(prefix="box-", dir=beside if os.access(beside, os.W_OK) else None))
    started = SupervisedProcess(backend, scratch, _copies(box))
    try:
        if port is not None:
            started.listener = socket.create_server(("127.0.0.1", port))
        started.spawn(plan(box, backend, ask, port, scratch), ends)
    except OSError as problem:
        started.end()
        started.close()
        raise Fault("spawn", f"the agent's process cannot be started: {problem}") from problem
    except BaseException:
        started.end()
        started.close()
        raise
    finally:
        ends.close_far()
    return started
