"""Files of a product that may be hostile: copied, laid over and read without ever following a link out."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from fairtrial.verify.blackbox import Failed

READ_BYTES = 64 << 20  # largest product file a check reads
LEFT_OUT = frozenset({"__pycache__"})  # stale bytecode must not stand in for the source


def copy_tree(source: Path, target: Path) -> None:
    """Copy folders, regular files (mode, mtime) and links (as links); devices, pipes and sockets are left out."""
    target.mkdir(parents=True, exist_ok=True)
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.name in LEFT_OUT:
                continue
            goal = target / entry.name
            if entry.is_symlink():
                goal.symlink_to(os.readlink(entry.path))  # noqa: PTH115 - entry is not a Path
            elif entry.is_dir():
                copy_tree(Path(entry.path), goal)
                goal.chmod(stat.S_IMODE(entry.stat().st_mode) | 0o700)
            elif entry.is_file():
                _copy_file(entry, goal)


def _copy_file(entry: os.DirEntry[str], goal: Path) -> None:
    facts = entry.stat(follow_symlinks=False)
    with Path(entry.path).open("rb") as source, goal.open("wb") as target:
        while block := source.read(1 << 20):
            target.write(block)
    goal.chmod(stat.S_IMODE(facts.st_mode))
    os.utime(goal, ns=(facts.st_mtime_ns, facts.st_mtime_ns))


def lay(folder: Path, files: Mapping[str, bytes | str]) -> None:
    """Write `files` (relative path -> content) into a folder a product may have filled with links."""
    for name, content in files.items():
        goal = folder
        for part in Path(name).parts[:-1]:
            goal = goal / part
            if goal.is_symlink() or (goal.exists() and not goal.is_dir()):
                goal.unlink()
            goal.mkdir(exist_ok=True)
        goal = goal / Path(name).name
        if goal.is_symlink() or goal.exists():
            goal.unlink()
        goal.write_bytes(content.encode() if isinstance(content, str) else content)


def remove(path: Path) -> None:
    """Delete a file, link or folder a product may have made as deep as it liked, with folders nobody may enter.

    Nothing where there is nothing. Raises OSError where it cannot be done.
    """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    import shutil

    with contextlib.suppress(OSError, RecursionError):
        shutil.rmtree(path)
        return
    _remove_lifted(str(path))


def _remove_lifted(top: str) -> None:
    """Level by level: what lies two levels below is lifted to one, so that no path becomes too long to be named."""
    os.chmod(top, 0o700)  # noqa: PTH101 - no Path for each of very many
    while names := os.listdir(top):  # noqa: PTH208
        for path in [f"{top}/{name}" for name in names]:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                os.unlink(path)  # noqa: PTH108
                continue
            os.chmod(path, 0o700)  # noqa: PTH101
            with os.scandir(path) as found:
                inner = list(found)
            for entry in inner:
                if entry.is_dir(follow_symlinks=False):
                    os.chmod(entry.path, 0o700)  # noqa: PTH101 - a folder that cannot be written to cannot be moved
                    os.rename(entry.path, f"{top}/{os.urandom(16).hex()}")  # noqa: PTH104
                else:
                    os.unlink(entry.path)  # noqa: PTH108
            os.rmdir(path)  # noqa: PTH106
    os.rmdir(top)  # noqa: PTH106


def read(root: Path, path: str) -> bytes:
    """Bytes of a regular file below `root`; Failed when missing, too large, or behind any symbolic link."""
    current = root
    for part in Path(path).parts:
        current = current / part
        if current.is_symlink():
            raise Failed(f"{path} is, or lies behind, a symbolic link", "file")
    try:
        descriptor = os.open(current, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as e:
        raise Failed(f"{path}: {e.strerror}", "file") from e
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode) or facts.st_size > READ_BYTES:
        os.close(descriptor)
        raise Failed(f"{path} is not a regular file of at most {READ_BYTES} bytes", "file")
    with os.fdopen(descriptor, "rb") as stream:
        return stream.read(READ_BYTES)
