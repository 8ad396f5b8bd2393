"""The interpreter the Python shim runs on: a copy, so that its inode is the attempt's own, with little to import.

Its standard library is the shim and one codec, which halves what is imported at every command. The system's Python
comes first, it starts faster than most; where the small library does not do, there is the whole one of our own.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from fairtrial.contracts.lean import lean
from fairtrial.instruments.trace import places

FLAGS = "-ISXutf8"  # one word: a first line `#!` passes no more
OLDEST = [3, 10]
SYSTEM = Path("/usr/bin/python3")
_SOURCES = Path(__file__).resolve().parent / "pyshim"
_ASK = """import json, sys, sysconfig
paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
print(json.dumps([sys.version_info[:2], sys.platlibdir, *paths]))
"""
_COMPILE = """import py_compile, sys
for name in sys.argv[1:]:
    py_compile.compile(name, doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
"""
_TRIAL = "import _signal, _socket, posix, select, time, pyshim.run"


@lean(frozen=True)
class Placed:
    """Paths below the folder it was placed in: the program, and a folder to add to its search path ('' for none)."""

    program: str
    extra: str = ""


def place(home: Path, system: Path = SYSTEM) -> Placed:
    """Put an interpreter into `home`. Raises OSError when none can be had, not even our own."""
    for program in dict.fromkeys([system.resolve(), places.interpreter()]):
        shutil.rmtree(home, ignore_errors=True)
        found = _small(program, home)
        if found:
            return found
    return _whole(home)


def _small(program: Path, home: Path) -> Placed | None:
    said = _run([str(program), "-I", "-c", _ASK])
    if said is None:
        return None
    (version, lib, _, dynamic) = json.loads(said)
    if version < OLDEST:
        return None
    name = f"python{version[0]}.{version[1]}"
    library, copy = home / lib / name, home / "bin" / name
    library.mkdir(parents=True)
    copy.parent.mkdir()
    shutil.copy(program, copy)
    (library / "os.py").touch()  # what an interpreter looks for to know its library
    if Path(dynamic, "lib-dynload").is_dir():
        (library / "lib-dynload").symlink_to(Path(dynamic, "lib-dynload"))
    modules = [*_modules(library), library / "encodings.py"]
    shutil.copyfile(_SOURCES / "encodings_small.py", modules[-1])
    compiled = _run([str(program), "-I", "-c", _COMPILE, *map(str, modules)])
    works = compiled is not None and _run([str(copy), FLAGS, "-c", _TRIAL]) is not None
    return Placed(f"bin/{name}") if works else None


def _whole(home: Path) -> Placed:
    program = places.interpreter()
    version, lib, library, _ = json.loads(_run([str(program), "-I", "-c", _ASK]) or "[]")
    name = f"python{version[0]}.{version[1]}"
    shutil.rmtree(home, ignore_errors=True)
    (home / "bin").mkdir(parents=True)
    shutil.copy(program, home / "bin" / name)
    (home / lib).mkdir()
    (home / lib / name).symlink_to(library)
    modules = _modules(home / "own")
    _run([str(program), "-I", "-c", _COMPILE, *map(str, modules)])
    return Placed(f"bin/{name}", "own")


def _modules(library: Path) -> list[Path]:
    """The shim's own two files, copied."""
    folder = library / "pyshim"
    folder.mkdir(parents=True)
    return [Path(shutil.copyfile(_SOURCES / name, folder / name)) for name in ("__init__.py", "run.py")]


def _run(command: Sequence[str]) -> bytes | None:
    """What it printed, or None when it failed."""
    try:
        done = subprocess.run(command, check=False, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
