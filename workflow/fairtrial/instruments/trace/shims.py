"""Builds the two shims: a compiled one where there is a C compiler, a Python one everywhere."""

from __future__ import annotations

import hashlib
import mmap
import os
import stat
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from fairtrial.instruments.trace import procfs

MARK = b"@fairtrial-trace-config@"
ROOM = 512  # bytes of the buffer in shim.c that starts with MARK
_HERE = Path(__file__).resolve().parent
_FLAGS = (("-O2", "-static"), ("-O2",))


def cache_folder() -> Path:
    """Where compiled shims are kept between runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fairtrial" / "shims"


def compiled(cache: Path) -> tuple[Path | None, str]:
    """The compiled shim, built at most once per source and machine, and how it was linked or why there is none.

    Several attempts may ask at once: each builds for itself and the last rename wins.
    """
    source = _HERE / "shim.c"
    parts = [p.read_bytes() for p in sorted(_HERE.glob("shim*.[ch]"))]
    key = hashlib.sha256(b"\0".join([*parts, os.uname().machine.encode()])).hexdigest()[:16]
    for flags in _FLAGS:
        if (built := cache / f"shim-{key}{'-static' if '-static' in flags else ''}").is_file():
            return built, _linking(flags)
    import shutil

    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None, "no C compiler"
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        return None, f"{cache} cannot be made: {problem.strerror}"
    said = ""
    for flags in _FLAGS:
        target = cache / f"shim-{key}{'-static' if '-static' in flags else ''}"
        said = _build([compiler, *flags, "-o"], source, target)
        if not said:
            return target, _linking(flags)
    return None, f"the C compiler failed: {said}"


def _linking(flags: Iterable[str]) -> str:
    return "static" if "-static" in flags else "dynamic"


def _build(command: list[str], source: Path, target: Path) -> str:
    """'' when it was built and runs, else why not."""
    import subprocess
    import tempfile

    handle, name = tempfile.mkstemp(prefix="building-", dir=target.parent)
    os.close(handle)
    try:
        done = subprocess.run(
            [*command, name, str(source)], check=False, capture_output=True, timeout=120, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
            return lines[-1] if lines else f"status {done.returncode}"
        Path(name).chmod(0o755)
        tried = subprocess.run([name], check=False, capture_output=True, timeout=60)
        if tried.returncode != 127 or b"not set up" not in tried.stderr:
            return "what it built does not run"
        Path(name).replace(target)
        return ""
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    finally:
        Path(name).unlink(missing_ok=True)


def place_compiled(built: Path, folder: Path, names: Iterable[str], config: str) -> Path:
    """One patched copy under every name; the copy is this attempt's own, so its inode tells its processes."""
    where = config.encode() + b"\0"
    if len(where) > ROOM:
        raise ValueError(f"{config} is longer than {ROOM - 1} bytes")
    first: Path | None = None
    for name in names:
        target = folder / name
        if first is None:
            _copy_with(where, built, target)
            target.chmod(0o755)
            first = target
        else:
            os.link(first, target)
    return first or folder


def _copy_with(where: bytes, built: Path, target: Path) -> None:
    """The program with `where` in place of MARK; copied by the kernel, without 0.8 MB of fresh memory twice over."""
    with built.open("rb") as source, target.open("wb") as copy:
        with mmap.mmap(source.fileno(), 0, prot=mmap.PROT_READ) as content:
            size, at = len(content), content.find(MARK)
        if sys.platform == "linux":
            done = 0
            while done < size:
                done += os.sendfile(copy.fileno(), source.fileno(), done, size - done)
        else:  # elsewhere sendfile is for sockets only
            copy.write(source.read())
        copy.seek(at)
        copy.write(where)


def starts_scripts(home: Path) -> bool:
    """Whether the first line of a script can name the interpreter placed there: 255 bytes, ended by the first blank."""
    from fairtrial.instruments.trace import interpreter

    line = os.fsencode(f"#!{home}/bin/python3.99 {interpreter.FLAGS}\n")
    return len(line) < 256 and not any(blank in os.fsencode(home) for blank in (b" ", b"\t", b"\n"))


def place_python(folder: Path, names: Iterable[str], home: Path, *, inside: str, config: str) -> Path:
    """A script per name in `folder`, and in `home` the interpreter they run on; `inside` is `home` as the box sees it.
    Returns that interpreter's file. Raises OSError where no script could start it."""
    from fairtrial.instruments.trace import interpreter

    if not starts_scripts(Path(inside)):
        raise OSError(f"{inside} holds a blank or is too long for the first line of a script; set TMPDIR to another")
    program = interpreter.place(home)
    for name in names:
        target = folder / name
        target.write_text(f"#!{inside}/{program} {interpreter.FLAGS}\n{config}\n{name}\n")
        target.chmod(0o755)
    return home / program


def proof_compiled(shim: Path) -> Callable[[int], bool]:
    """Whether a process runs the shim: by device and inode, which no agent can choose."""
    found = shim.stat()
    wanted = (found.st_dev, found.st_ino)
    return lambda pid: procfs.executable_id(pid) == wanted


def proof_python(folder: Path, python: Path) -> Callable[[int], bool]:
    """Whether a process is the interpreter running one of our scripts. Weaker: a process may rewrite its arguments."""
    from fairtrial.instruments.trace import interpreter

    known = {(s.st_dev, s.st_ino) for s in (p.stat() for p in folder.iterdir()) if stat.S_ISREG(s.st_mode)}
    found = python.stat()
    wanted = (found.st_dev, found.st_ino)

    def proven(pid: int) -> bool:
        if procfs.executable_id(pid) != wanted:
            return False
        words = procfs.command_line(pid)
        if len(words) < 3 or words[1] != interpreter.FLAGS.encode():
            return False
        try:
            seen = procfs.inside(pid, os.fsdecode(words[2])).stat()
        except OSError:
            return False
        return (seen.st_dev, seen.st_ino) in known

    return proven
