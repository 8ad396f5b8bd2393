"""Folders by content: capture one, restore it, say what is in it. Standard library only."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import lean
from fairtrial.instruments.snapshots.manifest import (
    EXEC,
    FILE,
    FOLDER,
    IGNORE,
    LINK,
    OMITTED,
    Entry,
    Speller,
    Tree,
    difference,
    parse,
    tree_digest,
)
from fairtrial.instruments.snapshots.pack import DELTA, Pack
from fairtrial.instruments.snapshots.walk import Outdated, Seen, Walk
from fairtrial.instruments.snapshots.watch import Watcher

_WHOLE = 16 << 20  # files up to this size are read at once
_CHUNK = 1 << 20
_MOUNT_POINTS = ((FOLDER, b""), (FILE, hashlib.sha256().digest()))
_CHAIN = 32  # trees kept as differences in a row


@lean(frozen=True)
class Caps:
    """Sizes past which a file is left out (its tree then cannot be replayed), bytes."""

    file: int = 64 << 20
    pack: int = 512 << 20
    look: int = 1 << 30  # together, of one look: links to one file, or the same bytes often, cost the pack nothing


# The last tree is the result: keep it if at all possible. Grading writes it out several times.
AT_REST = Caps(file=4 << 30, pack=8 << 30, look=4 << 30)
_LEAST = 4096  # what a file counts for at least: laying out a million empty ones takes its time, too
_HOLLOW = 64 << 20  # a file larger than this that is mostly a hole is no work of an agent's worth keeping


class Store:
    """Trees and contents in `folder`/pack. One store serves one workspace: it remembers stats by path."""

    def __init__(self, folder: Path, caps: Caps | None = None) -> None:
        self.folder = folder
        self.pack = Pack(folder / "pack")
        self.seen = Seen()  # of the last capture
        self.full = False  # the pack's cap was reached
        self._caps = caps or Caps()
        self._now = self._caps
        self._look = 0  # bytes of this look so far
        self._walk: Walk | None = None
        self._spell = Speller()
        self._last: tuple[Tree, bytes, int] | None = None  # tree, digest, length of its chain of differences
        self._read: dict[bytes, Tree] = {}

    def capture(
        self,
        root: Path,
        ignore: frozenset[str] = IGNORE,
        *,
        at_rest: bool = False,
        watcher: Watcher | None = None,
        mounts: frozenset[bytes] = frozenset(),
        only: frozenset[bytes] | None = None,
    ) -> str:
        """Keep what is below `root`, but for folders named in `ignore`; returns the tree id (64 hex digits).

        `at_rest` promises that nothing changes the folder: every file is read again and unreadable ones are opened up.
        `watcher` is told of each folder just before it is listed. `mounts`: paths at which the sandbox mounts
        something; the empty folder or file it leaves there is not the agent's. Raises OSError when `root` is gone,
        Fault('disk'). `only`: the paths, none of them folders, that alone changed since the last capture, which had
        the same `root` and `ignore`.
        """
        self._now, self._look = AT_REST if at_rest else self._caps, 0
        self._walk = self._walked(root, ignore, at_rest, watcher, only)
        self.seen = self._walk.seen
        for path in mounts:
            if self.seen.tree.get(path) in _MOUNT_POINTS:
                del self.seen.tree[path]
        return self.keep(self.seen.tree).hex()

    def _walked(
        self, root: Path, ignore: frozenset[str], at_rest: bool, watcher: Watcher | None, only: frozenset[bytes] | None
    ) -> Walk:
        if only is not None:
            walk = Walk(self._keep_file, ignore, self._walk)
            try:
                walk.again(root, only)
                return walk
            except Outdated:
                pass
        walk = Walk(self._keep_file, ignore, self._walk, at_rest=at_rest)
        walk.on_folder = watcher.folder if watcher else None
        walk.run(root)
        return walk

    def keep(self, tree: Tree) -> bytes:
        """Keep a tree whose contents are kept; returns its digest."""
        if self._last and self._last[0] == tree:
            return self._last[1]
        spelling = self._spell(tree)
        digest = hashlib.sha256(spelling).digest()
        chain = 0
        if digest not in self.pack:
            chain = self._append(tree, digest, spelling)
        elif self.pack.kind(digest) == DELTA:
            chain = _CHAIN  # of unknown length: the next one starts anew
        self._last = (tree, digest, chain)
        return digest

    def _append(self, tree: Tree, digest: bytes, spelling: bytes) -> int:
        if self._last and self._last[2] < _CHAIN:
            entries = difference(self._last[0], tree)
            if 2 * len(entries) < len(spelling):
                self.pack.add_delta(digest, self._last[1], entries)
                return self._last[2] + 1
        self.pack.add(spelling)
        return 0

    def tree(self, tree_id: str) -> Tree:
        """The entries of a kept tree, checked against its id. Raises UserError when it is unknown or damaged."""
        return dict(self._tree(bytes.fromhex(tree_id)))

    def _tree(self, digest: bytes) -> Tree:
        chain = [digest]
        while chain[-1] not in self._read and self.pack.kind(chain[-1]) == DELTA:
            chain.append(self.pack.delta(chain[-1])[0])
            if len(chain) > 2 * _CHAIN + 2:
                raise UserError(f"{self.pack.path}: tree {digest.hex()} has an endless chain of differences")
        first = chain.pop()
        tree = self._read[first] if first in self._read else parse(self.pack.content(first))
        while chain:
            tree = parse(self.pack.delta(chain[-1])[1], base=tree)
            chain.pop()
        if digest not in self._read:
            if tree_digest(tree) != digest:
                raise UserError(f"{self.pack.path}: tree {digest.hex()} is damaged")
            if len(self._read) > _CHAIN:
                self._read.clear()
            self._read[digest] = tree
        return tree

    def content(self, digest: bytes) -> bytes:
        """One file's content."""
        return self.pack.content(digest)

    def restore(self, tree_id: str, into: Path) -> list[bytes]:
        """Lay a kept tree out in the new or empty folder `into`; returns paths that were omitted from the tree."""
        return self.lay_out(self.tree(tree_id), into)

    def lay_out(self, tree: Tree, into: Path) -> list[bytes]:
        """Like restore, for any tree whose contents are kept here. Links come last: nothing is written through one."""
        into.mkdir(parents=True, exist_ok=True)
        if any(into.iterdir()):
            raise UserError(f"{into}: is not empty; give a new folder")
        made: set[Path] = set()
        for path, (mode, value) in sorted(tree.items(), key=lambda item: item[1][0] == LINK):
            _check(path)
            target = into / os.fsdecode(path)
            folder = target if mode == FOLDER else target.parent
            if folder not in made:
                folder.mkdir(parents=True, exist_ok=True)
                made.add(folder)
            if mode in (FILE, EXEC):
                self._place(target, value, 0o755 if mode == EXEC else 0o644)
            elif mode == LINK:
                target.symlink_to(os.fsdecode(value))
        return sorted(path for path, entry in tree.items() if entry[0] == OMITTED)

    def _place(self, target: Path, digest: bytes, mode: int) -> None:
        file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        try:
            self.pack.write_to(digest, file)
            os.fchmod(file, mode)
        finally:
            os.close(file)

    def manifest(self, root: Path, ignore: frozenset[str] = IGNORE) -> Tree:
        """What is below `root` now, nothing kept."""
        return Walk(_hash_file, ignore).run(root).tree

    def close(self) -> None:
        """Close the pack."""
        self.pack.close()

    def _keep_file(self, name: str, folder: int, status: os.stat_result) -> Entry | None:
        full = self.pack.size + status.st_size > self._now.pack
        self.full |= full and self._now is not AT_REST
        size = max(status.st_size, _LEAST)
        if full or status.st_size > self._now.file or self._look + size > self._now.look or _hollow(status):
            return OMITTED, b"%d:%d" % (status.st_size, status.st_mtime_ns)
        self._look += size
        mode = EXEC if status.st_mode & 0o100 else FILE
        file = _open_file(name, folder, self._now is AT_REST)
        if file is None:
            return None
        try:
            if status.st_size > _WHOLE:
                digest = self._keep_large(file)
            else:
                content = _content(file, status.st_size)
                digest = self.pack.add(content) if content is not None else None
        except OSError:
            return None
        finally:
            os.close(file)
        return (mode, digest) if digest else None

    def _keep_large(self, file: int) -> bytes | None:
        check, length = hashlib.sha256(), 0
        for chunk in _chunks(file):
            check.update(chunk)
            length += len(chunk)
        return check.digest() if self.pack.add_stream(check.digest(), length, _chunks(file)) else None


def _hollow(status: os.stat_result) -> bool:
    """Is it large and mostly a hole? A gigabyte of nothing would be read, kept and written out in full."""
    return status.st_size > _HOLLOW and status.st_blocks * 512 < status.st_size // 16


def _check(path: bytes) -> None:
    """A pack may come from elsewhere: no path of it may leave the folder."""
    if any(part in (b"", b".", b"..") for part in path.split(b"/")):
        raise UserError(f"snapshot pack holds the path {os.fsdecode(path)!r}; it will not be restored")


def _open_file(name: str, folder: int, at_rest: bool) -> int | None:
    """A descriptor of a regular file, or None. Never blocks on a fifo, never follows a link."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(name, flags, dir_fd=folder)
    except PermissionError:
        if not at_rest:
            return None
        os.chmod(name, 0o600, dir_fd=folder)
        file = os.open(name, flags, dir_fd=folder)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(file).st_mode):
        return file
    os.close(file)
    return None


def _content(file: int, size: int) -> bytes | None:
    """All of a file, which may be growing; None past the whole-file limit."""
    found = os.read(file, size + 1)
    if len(found) == size:
        return found
    parts, total = [found], len(found)
    while part := os.read(file, _CHUNK):
        parts.append(part)
        total += len(part)
        if total > 2 * _WHOLE:
            return None
    return b"".join(parts)


def _chunks(file: int) -> Iterator[bytes]:
    offset = 0
    while chunk := os.pread(file, _CHUNK, offset):
        offset += len(chunk)
        yield chunk


def _hash_file(name: str, folder: int, status: os.stat_result) -> Entry | None:
    file = _open_file(name, folder, at_rest=False)
    if file is None:
        return None
    with os.fdopen(file, "rb") as stream:
        return (EXEC if status.st_mode & 0o100 else FILE), hashlib.file_digest(stream, "sha256").digest()


def remove(folder: Path) -> None:
    """Delete a restored tree, locked folders and all."""
    import shutil

    try:
        shutil.rmtree(folder)
    except (PermissionError, RecursionError):
        from fairtrial.verify.files import remove as remove_any

        remove_any(folder)
