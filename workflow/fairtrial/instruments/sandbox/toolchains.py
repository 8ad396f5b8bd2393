"""Programs a task requires that live outside /usr, such as a compiler below HOME: made visible in a box, read-only."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fairtrial.contracts.protocols import Bind

_SHOWN = ("/usr", "/bin", "/sbin", "/lib")  # every box has these
_ALWAYS = frozenset({"python3", "python"})  # and these programs
_PROXY = "rustup"  # its links start the compiler of a toolchain folder elsewhere


def binds_for(programs: Iterable[str]) -> tuple[list[Bind], list[str]]:
    """(binds, folders for PATH) with which a box finds `programs`; nothing for those below /usr or not installed."""
    import shutil

    binds: dict[str, Bind] = {}
    path: dict[str, None] = {}
    for name in programs:
        found = None if name in _ALWAYS else shutil.which(name)
        if found is None or found.startswith(tuple(f"{top}/" for top in _SHOWN)):
            continue
        program = _program(name, Path(found))
        shown = _shown(program)
        binds.setdefault(str(shown), Bind(shown, str(shown)))
        path.setdefault(str(program.parent))
    return list(binds.values()), list(path)


def _program(name: str, found: Path) -> Path:
    """The file itself, behind links and rustup's proxies."""
    import subprocess

    real = found.resolve()
    if real.name != _PROXY or name == _PROXY:
        return real if real.name == name else found
    compiler = found.with_name("rustc")
    done = subprocess.run(
        [str(compiler), "--print", "sysroot"], capture_output=True, text=True, check=False, timeout=60
    )
    inner = Path(done.stdout.strip()) / "bin" / name
    return inner if done.returncode == 0 and inner.is_file() else found


def _shown(program: Path) -> Path:
    """The toolchain's folder; only the program where that folder would show more, such as a HOME with its logins."""
    home = Path.home().resolve()
    root = program.parent.parent
    private = home.is_relative_to(root) or root in (home / ".local", home / ".cargo")
    return program if program.parent.name != "bin" or private else root
