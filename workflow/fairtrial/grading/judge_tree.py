"""The tree that is judged: a fresh copy of the exported one, restored from the package and closed in itself."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

from fairtrial.contracts.protocols import WORKSPACE
from fairtrial.verify import files
from fairtrial.verify.files import LEFT_OUT, copy_tree

NOWHERE = "/nonexistent/link-left-the-workspace"


def move_tree(tree: Path, into: Path) -> None:
    """What copy_tree leaves in `into`, from a tree on the same file system that nobody needs any more."""
    tree.rename(into)
    for folder, names, _ in os.walk(into):
        for name in LEFT_OUT.intersection(names):
            remove(Path(folder) / name)


def restore(into: Path, start: Path | None, acceptance: Path, protected: Iterable[str]) -> list[str]:
    """Put acceptance and protected files of a tree back, close its links; the restored paths that differed.

    `start`: the untouched workspace that protected paths are restored from.
    """
    changed = []
    if holds_files(acceptance):
        # In a box the folder is mounted over an empty one: nothing there is no change of the agent's.
        empty = digest(into / "acceptance") in ("missing", digest_of_empty())
        if _restore(acceptance, into, "acceptance") and not empty:
            changed.append("acceptance")
    if start is not None:
        changed += [path for path in protected if _restore(start / path, into, path)]
    close_links(into)
    return changed


def holds_files(folder: Path) -> bool:
    """A folder with something in it: a task without acceptance tests may still have the empty folder."""
    return folder.is_dir() and any(folder.iterdir())


def _restore(original: Path, root: Path, path: str) -> bool:
    """Make root/path what `original` is; True when it was something else. Never writes through a link."""
    goal = root
    for part in Path(path).parts[:-1]:
        goal = goal / part
        if goal.is_symlink() or (goal.exists() and not goal.is_dir()):
            goal.unlink()
        goal.mkdir(exist_ok=True)
    goal = goal / Path(path).name
    if digest(original) == digest(goal):
        return False
    remove(goal)
    if original.is_symlink():
        goal.symlink_to(original.readlink())
    elif original.is_dir():
        copy_tree(original, goal)
    elif original.is_file():
        shutil.copy2(original, goal)
    return True


def remove(path: Path) -> None:
    """Delete a file, link or folder as far as that can be done."""
    with contextlib.suppress(OSError):
        files.remove(path)


def close_links(root: Path) -> None:
    """No link of the tree leads out of it: a verifier that reads it as plain files sees product files only.

    Links to the workspace's place in the box become relative ones; a link that leaves becomes a dead one.
    """
    links = [Path(folder) / name for folder, dirs, names in os.walk(root) for name in (*dirs, *names)]
    links = [link for link in links if link.is_symlink()]
    for link in links:
        target = str(link.readlink())
        if target == WORKSPACE or target.startswith(WORKSPACE + "/"):
            inside = root / target[len(WORKSPACE) :].lstrip("/")
            link.unlink()
            link.symlink_to(os.path.relpath(inside, link.parent))
    whole = Path(os.path.realpath(root))
    for link in links:
        if not Path(os.path.realpath(link)).is_relative_to(whole):
            link.unlink()
            link.symlink_to(NOWHERE)


def digest(path: Path) -> str:
    """sha256 over names, kinds, modes and contents of a file or folder; 'missing' where there is nothing."""
    if not path.is_symlink() and not path.exists():
        return "missing"
    total = hashlib.sha256()
    _digest(path, "", total)
    return total.hexdigest()


def digest_of_empty() -> str:
    """The digest of a folder with nothing in it."""
    return hashlib.sha256(b"D \0").hexdigest()


def _digest(path: Path, name: str, total: hashlib._Hash) -> None:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        total.update(f"L {name}\0{path.readlink()}\0".encode(errors="surrogateescape"))
    elif stat.S_ISDIR(mode):
        total.update(f"D {name}\0".encode(errors="surrogateescape"))
        for entry in sorted(e.name for e in os.scandir(path)):
            if entry != "__pycache__":
                _digest(path / entry, f"{name}/{entry}", total)
    elif stat.S_ISREG(mode):
        with path.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        total.update(f"F {name}\0{bool(mode & 0o100)} {content}\0".encode(errors="surrogateescape"))
    else:
        total.update(f"? {name}\0".encode(errors="surrogateescape"))
