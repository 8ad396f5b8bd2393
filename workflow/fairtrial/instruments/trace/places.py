"""Where commands stand: found on the box's PATH, from outside, before the box exists."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import RUN, Box

SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
TOOLS = f"{RUN}/bin"  # the sandbox puts python3 and python there


@lean(frozen=True)
class Place:
    """One command: the path a lookup inside finds, its file on the host, and the path inside to bind a shim over
    (None: leave it, the file serves other names too or belongs to the agent)."""

    name: str
    seen: str
    host: Path
    over: str | None


def interpreter() -> Path:
    """The real file of the Python that runs fairtrial, which the sandbox makes available inside."""
    return Path(getattr(sys, "_base_executable", "") or sys.executable).resolve()


def find(name: str, box: Box, *, boxed: bool) -> Place | None:
    """The first executable called `name` on the box's PATH; None when a lookup inside would find none."""
    folders = [*box.path, *([TOOLS] if boxed else []), *SYSTEM_PATH]
    if "PATH" in box.env:
        folders = box.env["PATH"].split(":")
    for folder in folders:
        seen = f"{folder}/{name}"
        host = _host(seen, box) if boxed else Path(seen)
        if host and host.is_file() and os.access(host, os.X_OK):
            return Place(name, seen, host, _over(name, seen, host, box) if boxed else None)
    if not boxed and name in ("python", "python3"):
        return Place(name, str(interpreter()), interpreter(), None)
    return None


def _host(seen: str, box: Box) -> Path | None:
    """The host's file behind a path inside the box."""
    if seen in (f"{TOOLS}/python", f"{TOOLS}/python3"):
        return interpreter()
    bind = _bind(seen, box)
    if bind:
        source, target = bind
        return source / Path(seen).relative_to(target) if seen != target else source
    return Path(seen) if seen.startswith(("/usr/", "/bin/")) else None


def _bind(seen: str, box: Box) -> tuple[Path, str] | None:
    holding = [(b.source, b.target) for b in box.binds if Path(seen).is_relative_to(b.target)]
    return max(holding, key=lambda pair: len(pair[1])) if holding else None


def _over(name: str, seen: str, host: Path, box: Box) -> str | None:
    real = host.resolve()
    mine = [b for b in box.binds if Path(seen).is_relative_to(b.target)]
    if any(b.writable for b in mine) or not real.name.startswith(name) or real.parent.name not in ("bin", "sbin"):
        return None
    if real != host and _is_script(real):
        return None  # such as npm: a link to a JavaScript file that node must be able to read
    inside = _inside(real, box)
    return inside if inside and stat.S_ISREG(real.stat().st_mode) else None


def _inside(real: Path, box: Box) -> str | None:
    """The path inside of a real file on the host."""
    for bind in sorted(box.binds, key=lambda b: len(str(b.source)), reverse=True):
        source = bind.source.resolve()
        if real == source:
            return bind.target
        if real.is_relative_to(source):
            return f"{bind.target}/{real.relative_to(source)}"
    if real.is_relative_to("/usr") or real == interpreter():
        return str(real)
    return None


def _is_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return True
