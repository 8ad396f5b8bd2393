"""One product child: started in its box, read with a cap, ended whole; and the values it hands over."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

KEEP_BYTES = 16 << 20  # kept per stream of a child; more is drained and dropped
DRAIN_SECONDS = 0.3  # after the child's end: a left-over writer that holds the pipe must not hold the verifier
NOT_FOUND = 127

# Runs in the product's child. Reads one JSON document from stdin before any product code is imported; answers on a
# copy of stdout that product prints do not reach. A product that forges an answer only chooses its return value.
DRIVER = """
import json, os, sys
dumps, quit = json.dumps, os._exit
ask = json.loads(sys.stdin.buffer.read())
answers = os.fdopen(os.dup(1), "wb", 0)
os.dup2(2, 1)
sys.path.insert(0, os.path.abspath(ask["path"]))
def plain(v):
    t = type(v)
    if v is None or t is bool or t is int or t is str:
        return True
    if t is float:
        return v - v == 0
    if t is list:
        return all(map(plain, v))
    return t is dict and all(type(k) is str and plain(x) for k, x in v.items())
def answer(nonce, body):
    left = memoryview(("\\n" + nonce + " " + dumps(body) + "\\n").encode())
    while left:
        left = left[answers.write(left):]
for call in ask["calls"]:
    try:
        target = __import__(ask["module"], fromlist=["x"])
        for part in ask["function"].split("."):
            target = getattr(target, part)
        value = target(*call["args"], **call["kwargs"])
    except BaseException as e:
        names = [c.__name__ for c in type(e).__mro__]
        answer(call["nonce"], {"raised": names, "message": str(e)[:2000]})
    else:
        answer(call["nonce"], {"value": value} if plain(value) else {"odd": type(value).__name__})
quit(0)
"""


class Failed(Exception):
    """The product did not do what the check asks. `kind`: failed, status, timeout, crash, exception, value or file."""

    def __init__(self, detail: str, kind: str = "failed", raised: Sequence[str] = ()) -> None:
        super().__init__(detail)
        self.kind = kind
        self.raised = tuple(raised)  # class names of a product exception, most derived first


class BrokenBox(Exception):
    """The box itself could not be built: a verifier error, never the product's failure."""


class Result(NamedTuple):
    """How one boxed child went. `status`: exit status, negative signal number when killed; `folder`: its workspace."""

    argv: tuple[str, ...]
    status: int
    stdout: bytes
    stderr: bytes
    timed_out: bool
    truncated: bool
    folder: Path

    @property
    def text(self) -> str:
        """stdout as UTF-8; Failed when it is not."""
        return decoded(self.stdout, f"output of {' '.join(self.argv)[:200]}")

    def json(self) -> Any:
        """stdout as one JSON document; Failed when it is not."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError) as e:
            raise Failed(f"output of {' '.join(self.argv)[:200]} is not JSON: {e}", "value") from e

    def __str__(self) -> str:
        how = "timed out" if self.timed_out else f"status {self.status}"
        tail = (self.stderr or self.stdout)[-600:].decode(errors="replace").strip()
        return f"{' '.join(self.argv)[:200]}: {how}" + (f": {tail}" if tail else "")


def decoded(data: bytes, what: str) -> str:
    """UTF-8 text; Failed when it is not."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as e:
        raise Failed(f"{what} is not UTF-8: {e}", "value") from e


def plain_environment(home: Path) -> dict[str, str]:
    """What an unboxed child (development, or no sandbox on this machine) gets: an allow-list, nothing inherited."""
    path = os.environ.get("PATH", os.defpath) + os.pathsep + str(Path(sys.executable).parent)
    fixed = {"LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {"PATH": path, "HOME": str(home), "TMPDIR": str(home), **fixed}


class _Stream:
    def __init__(self) -> None:
        self.kept = bytearray()
        self.truncated = False

    def take(self, data: bytes) -> None:
        room = KEEP_BYTES - len(self.kept)
        self.kept += data[:room]
        self.truncated = self.truncated or len(data) > room


def run_child(
    boxed: Sequence[str], argv: tuple[str, ...], folder: Path, *, stdin: bytes, seconds: float, env: Mapping[str, str]
) -> Result:
    """Run `boxed` (prefix and command) for at most `seconds`; nothing of it lives on afterwards, as far as groups go.

    An empty `env` means a box sets its own; then a missing program is a BrokenBox.
    """
    try:
        child = subprocess.Popen(
            list(boxed),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(env),
            start_new_session=True,
        )
    except OSError as e:
        if not env:
            raise BrokenBox(f"cannot start the box: {e}") from e
        return Result(argv, NOT_FOUND, b"", str(e).encode(), False, False, folder)
    try:
        out, err, timed_out = _pump(child, stdin, time.monotonic() + seconds)
    finally:
        end(child)
    status = child.returncode
    speaks = not env and status == 1 and err.kept.startswith(b"bwrap: ") and not err.kept.startswith(b"bwrap: execvp")
    if speaks and not _stands(boxed[: len(boxed) - len(argv)], folder):
        raise BrokenBox(bytes(err.kept[:500]).decode(errors="replace").strip())
    return Result(argv, status, bytes(out.kept), bytes(err.kept), timed_out, out.truncated or err.truncated, folder)


def _stands(prefix: Sequence[str], folder: Path) -> bool:
    """Can the box be built after all? Then the words in bwrap's name were the product's."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run([*prefix, "true"], capture_output=True, cwd=folder, env={}, timeout=20, check=False)
        return done.returncode == 0
    return False


def _below(pid: int) -> list[int]:
    """Every process below `pid` that is still its descendant, whatever session it is in; none where /proc is not."""
    found: list[int] = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for word in children.read_text().split():
                found += [int(word), *_below(int(word))]
    return found


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill a child and everything below it or in its group, and give its pipes back."""
    for pid in _below(child.pid) if child.poll() is None else ():
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        with contextlib.suppress(OSError):
            if pipe is not None:
                pipe.close()


def _pump(child: subprocess.Popen[bytes], stdin: bytes, deadline: float) -> tuple[_Stream, _Stream, bool]:
    """Feed stdin and collect both streams until the end, the deadline, or a left-over writer's bounded drain."""
    assert child.stdin and child.stdout and child.stderr
    out, err, left = _Stream(), _Stream(), memoryview(stdin)
    with selectors.DefaultSelector() as ready:
        ready.register(child.stdout, selectors.EVENT_READ, out)
        ready.register(child.stderr, selectors.EVENT_READ, err)
        os.set_blocking(child.stdin.fileno(), False)
        ready.register(child.stdin, selectors.EVENT_WRITE)
        ended_at: float | None = None
        while ready.get_map():
            now = time.monotonic()
            if ended_at is None and child.poll() is not None:
                ended_at = now
            if ended_at is None and now >= deadline:
                return out, err, True
            if ended_at is not None and now - ended_at > DRAIN_SECONDS:
                break
            for key, _ in ready.select(min(0.05, max(0.0, deadline - now))):
                if isinstance(key.data, _Stream):
                    _take(ready, key, key.data)
                else:
                    left = _feed(ready, child.stdin, left)
        return out, err, not _ended(child, deadline)


def _ended(child: subprocess.Popen[bytes], deadline: float) -> bool:
    """A child that closed its streams still has until the deadline to exit."""
    try:
        child.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def _take(ready: selectors.BaseSelector, key: selectors.SelectorKey, stream: _Stream) -> None:
    data = os.read(key.fd, 1 << 16)
    if data:
        stream.take(data)
    else:
        ready.unregister(key.fileobj)


def _feed(ready: selectors.BaseSelector, pipe: IO[bytes], left: memoryview) -> memoryview:
    try:
        left = left[os.write(pipe.fileno(), left[: 1 << 16]) :] if left else left
    except BlockingIOError:
        return left
    except BrokenPipeError:
        left = left[:0]
    if not left:
        ready.unregister(pipe)
        pipe.close()
    return left


def answer(result: Result, nonce: str, what: str) -> Any:
    """The value behind `nonce` among a driver's answers; Failed for anything but exactly one plain JSON value."""
    lines = [x[len(nonce) + 1 :] for x in result.stdout.split(b"\n") if x.startswith(nonce.encode() + b" ")]
    if not lines:
        kind = "timeout" if result.timed_out else "crash"
        how = "hangs" if result.timed_out else f"ended without an answer (status {result.status})"
        tail = result.stderr[-600:].decode(errors="replace").strip()
        raise Failed(f"{what} {how}" + (f": {tail}" if tail else ""), kind)
    try:
        bodies = [json.loads(x) for x in lines]
    except (ValueError, RecursionError) as e:
        raise Failed(f"{what} answered with broken JSON: {e}", "value") from e
    if len(bodies) > 1 or not isinstance(bodies[0], dict):
        raise Failed(f"{what} answered {len(bodies)} times", "value")
    return _value(bodies[0], what)


def _value(body: dict[str, Any], what: str) -> Any:
    if "raised" in body:
        names = [str(n) for n in body["raised"]] if isinstance(body["raised"], list) else []
        raise Failed(f"{what} raised {(names or ['?'])[0]}: {body.get('message')}", "exception", names)
    if "value" not in body:
        raise Failed(f"{what} returned {body.get('odd')}, not a plain JSON value", "value")
    return body["value"]
