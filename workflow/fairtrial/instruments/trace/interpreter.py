"""The interpreter the Python shim runs on: a copy, so that its inode is the attempt's own, with little to import.

Its standard library is the shim and one codec, which halves what is imported at every command. The system's Python
comes first, it starts faster than most; where the small library does not do, there is the whole one of our own.
What it runs stands in its arguments: a script would first be tried as a zip file, read twice and compiled.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from fairtrial.instruments.trace import places

# One word without a space: a first line `#!` passes no more. The script's path and the arguments follow it.
FLAGS = "-ISc__import__('pyshim').main()"
OLDEST = [3, 10]
SYSTEM = Path("/usr/bin/python3")
_SOURCES = Path(__file__).resolve().parent / "pyshim"
_ASK = """import json, sys, sysconfig
paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
print(json.dumps([sys.version_info[:2], sys.platlibdir, *paths]))
"""
_COMPILE = """import py_compile, sys
mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
for name in sys.argv[1:]:
    py_compile.compile(name, name + "c", doraise=True, optimize=2, invalidation_mode=mode)
"""
_TRIAL = "import pyshim"
_LATER_BUILT_IN = ("codecs.py", "io.py", "abc.py")  # part of the program from 3.11 on
_EXTENSIONS = ("_ctypes", "_socket", "fcntl", "select")  # of what it imports, what may be a file of its own


def place(home: Path, system: Path = SYSTEM) -> str:
    """Put an interpreter into `home`; its program's path below it. Raises OSError when none can be had."""
    for program in dict.fromkeys([system.resolve(), places.interpreter()]):
        shutil.rmtree(home, ignore_errors=True)
        found = _small(program, home)
        if found:
            return found
    return _whole(home)


def _small(program: Path, home: Path) -> str | None:
    said = _run([str(program), "-I", "-c", _ASK])
    if said is None:
        return None
    (version, lib, standard, dynamic) = json.loads(said)
    if version < OLDEST:
        return None
    name = f"python{version[0]}.{version[1]}"
    library, copy = home / lib / name, home / "bin" / name
    (library / "lib-dynload").mkdir(parents=True)
    copy.parent.mkdir()
    shutil.copy(program, copy)
    (library / "os.py").touch()  # what an interpreter looks for to know its library
    for found in [f for e in _EXTENSIONS for f in Path(dynamic, "lib-dynload").glob(f"{e}.*")]:
        (library / "lib-dynload" / found.name).symlink_to(found)
    shutil.copyfile(_SOURCES / "encodings_small.py", library / "encodings.py")
    (library / "linecache.py").write_text("def _register_code(*_):\n    return None\n")  # 3.13 asks for it
    more = ["encodings.py", "linecache.py", *(_LATER_BUILT_IN if version < [3, 11] else ())]
    for file in more[2:]:
        shutil.copyfile(Path(standard, file), library / file)
    works = _compile(program, library, *more) and _run([str(copy), "-ISc", _TRIAL]) is not None
    return f"bin/{name}" if works else None


def _whole(home: Path) -> str:
    program = places.interpreter()
    version, lib, library, _ = json.loads(_run([str(program), "-I", "-c", _ASK]) or "[]")
    name = f"python{version[0]}.{version[1]}"
    shutil.rmtree(home, ignore_errors=True)
    (home / "bin").mkdir(parents=True)
    shutil.copy(program, home / "bin" / name)
    (home / lib / name).mkdir(parents=True)
    for entry in Path(library).iterdir():
        (home / lib / name / entry.name).symlink_to(entry)
    _compile(program, home / lib / name)
    return f"bin/{name}"


def _compile(program: Path, library: Path, *more: str) -> bool:
    """The shim, and more modules of `library`, compiled there and without their sources: less to look for at every
    command. For the same reason the shim's two files become one module, without their imports of each other."""
    parts = [(_SOURCES / name).read_text("utf-8").splitlines() for name in ("__init__.py", "run.py")]
    lines = [line for part in parts for line in part if not line.lstrip().startswith("from .")]
    (library / "pyshim.py").write_text("\n".join(lines), "utf-8")
    files = [library / name for name in ("pyshim.py", *more)]
    compiled = _run([str(program), "-I", "-c", _COMPILE, *map(str, files)]) is not None
    for file in files:
        file.unlink()
    return compiled


def _run(command: Sequence[str]) -> bytes | None:
    """What it printed, or None when it failed."""
    try:
        done = subprocess.run(command, check=False, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
