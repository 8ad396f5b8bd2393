"""Where an agent program is installed, and how a box is shown it: read-only, below one neutral folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import RUN, Bind, LaunchRequest

CLI = f"{RUN}/cli"
_OURS = Path(__file__).resolve().parents[1]
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*(?:[-+.]?[0-9A-Za-z.]+)?")
_MACHINE = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")  # Linux, macOS


@lean(frozen=True)
class Program:
    """The words that start a program, as the agent will see them, and what must be shown for that."""

    argv: tuple[str, ...]
    binds: tuple[Bind, ...]


def find(name: str, options: dict[str, Any], package: str) -> Path:
    """The program named by the option `bin`, else `name` on PATH; not resolved. Raises Fault('cli_missing')."""
    wanted = options.get("bin") or name
    found = shutil.which(wanted)
    if found is None:
        where = "is not there" if "/" in wanted else "is not on PATH"
        raise Fault("cli_missing", f"{wanted} {where}; install it with {package}, or name the program with options.bin")
    return Path(found).absolute()


def native(found: Path, name: str, patterns: Sequence[str]) -> Path:
    """The native program behind an npm link. `patterns` are globs below node_modules, tried where `found` is a script.

    Raises Fault('cli_missing') when the platform package is not installed.
    """
    resolved = found.resolve()
    if _is_native(resolved):
        return resolved
    for modules in _node_modules(resolved):
        for pattern in patterns:
            for candidate in sorted(modules.glob(pattern)):
                if _is_native(candidate):
                    return candidate.resolve()
    if _is_script(resolved) and not _node_modules(resolved):
        return resolved  # somebody's own wrapper
    raise Fault("cli_missing", f"{found}: no native {name} beside it; reinstall it with optional dependencies")


def one_file(program: Path, name: str, request: LaunchRequest) -> Program:
    """A program that is a single file."""
    if program.is_relative_to("/usr"):
        return Program((str(program),), ())
    bind = Bind(program, f"{CLI}/{name}")
    return Program((request.shown(bind),), (bind,))


def in_folder(program: Path, folder: Path, name: str, request: LaunchRequest) -> Program:
    """A program that needs the folder it lies in."""
    if folder.is_relative_to("/usr"):
        return Program((str(program),), ())
    bind = Bind(folder, f"{CLI}/{name}")
    return Program((f"{request.shown(bind)}/{program.relative_to(folder).as_posix()}",), (bind,))


def node_program(found: Path, name: str, request: LaunchRequest, options: dict[str, Any]) -> Program:
    """A JavaScript program: node, and the outermost node_modules folder it lies in."""
    script = found.resolve()
    if _is_native(script):
        return one_file(script, name, request)
    modules = _node_modules(script)
    if not modules:
        raise Fault(
            "cli_missing", f"{found} leads to {script}, which lies in no node_modules folder; install it with npm"
        )
    node = one_file(_node(found, options), "node", request)
    shown = in_folder(script, modules[0], "node_modules", request)
    return Program((*node.argv, *shown.argv), (*node.binds, *shown.binds))


def python_program(found: Path, module: str, call: str, request: LaunchRequest) -> Program:
    """A Python program in a virtual environment, started by its base interpreter so that no host path is needed.

    `module`.`call` is its entry point. The interpreter runs isolated (-I), so nothing of this reaches the
    environment of the commands the agent runs.
    """
    script = found.resolve()
    root = script.parent.parent
    interpreter = next((p for p in (root / "bin/python3", root / "bin/python") if p.exists()), None)
    sites = sorted(root.glob("lib/python3*/site-packages"))
    if interpreter is None or not sites:
        raise Fault(
            "cli_missing", f"{found} leads to {script}, which lies in no Python environment; install it with pip"
        )
    if _OURS.is_relative_to(root):
        raise Fault("cli_missing", f"{root} holds fairtrial too; install {found.name} in an environment of its own")
    shown = _interpreter(interpreter.resolve(), root, request)
    site = in_folder(sites[0], root, "venv", request)
    start = request.scratch / "start.py"
    start.write_text(f"import site\nsite.addsitedir({site.argv[0]!r})\nfrom {module} import {call}\n{call}()\n")
    bind = Bind(start, f"{CLI}/start.py")
    return Program((*shown.argv, "-I", request.shown(bind)), (*shown.binds, *site.binds, bind))


def version(program: Sequence[str], flag: str = "--version") -> str | None:
    """What the program says of itself, as its first dotted number; None when it says none. At most 60 s.

    It runs with an empty HOME. Raises Fault('cli_missing') when it cannot be started or fails.
    """
    words = [*program, flag]
    try:
        with tempfile.TemporaryDirectory(prefix="ft-version-") as home:
            env = {"HOME": home, "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}
            done = subprocess.run(
                words, check=False, capture_output=True, timeout=60, stdin=subprocess.DEVNULL, env=env, cwd=home
            )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Fault("cli_missing", f"{program[0]} {flag}: {problem}") from problem
    text = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace")
    if done.returncode != 0:
        said = text.strip().splitlines()
        raise Fault("cli_missing", f"{program[0]} {flag} failed: {said[-1] if said else done.returncode}")
    match = _VERSION.search(text)
    return match.group(0) if match else None


def package_version(found: Path) -> str | None:
    """The version in the package.json above a program, without starting it; None when there is none."""
    import json

    for folder in found.resolve().parents:
        file = folder / "package.json"
        if file.is_file():
            try:
                said = json.loads(file.read_text()).get("version")
            except (ValueError, AttributeError, OSError):
                return None
            return said if isinstance(said, str) else None
        if folder.name == "node_modules":
            return None
    return None


def distribution_version(found: Path, name: str) -> str | None:
    """The version of a Python distribution in the environment of `found`, without starting it (that takes seconds)."""
    normal = re.sub(r"[-_.]+", "_", name).lower()
    pattern = f"lib/python3*/site-packages/{normal}-*.dist-info"
    for folder in sorted(found.resolve().parent.parent.glob(pattern)):
        return folder.name.removesuffix(".dist-info").split("-", 1)[1]
    return None


def _interpreter(python: Path, root: Path, request: LaunchRequest) -> Program:
    """The base interpreter with its library, but without what else is installed there: that might be fairtrial."""
    prefix = python.parent.parent
    shown = in_folder(python, prefix, "python", request)
    if not shown.binds or prefix == root:
        return shown
    empty = request.scratch / "empty"
    empty.mkdir(exist_ok=True)
    covers = (
        Bind(empty, f"{CLI}/python/{s.relative_to(prefix)}") for s in sorted(prefix.glob("lib/python3*/site-packages"))
    )
    return Program(shown.argv, (*shown.binds, *covers))


def _node(found: Path, options: dict[str, Any]) -> Path:
    wanted = options.get("node")
    beside = found.parent / "node"
    program = shutil.which(wanted) if wanted else str(beside) if beside.exists() else shutil.which("node")
    if program is None:
        raise Fault("cli_missing", f"{wanted or 'node'} is not there; install Node.js, or name it with options.node")
    return Path(program).resolve()


def _node_modules(path: Path) -> list[Path]:
    """The node_modules folders above `path`, outermost first."""
    return [p for p in reversed(path.parents) if p.name == "node_modules"]


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4)
    except OSError:
        return b""


def _is_native(path: Path) -> bool:
    return path.is_file() and _head(path).startswith(_MACHINE)


def _is_script(path: Path) -> bool:
    return _head(path).startswith(b"#!")
