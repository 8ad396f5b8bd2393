"""What is in a folder at one moment: paths to entries, their one spelling, and the walk that finds them.

A tree maps a path (bytes, relative, ``/`` between names) to an entry ``(mode, value)``:

    file, exec   sha256 of the content, 32 bytes (exec: the owner may run it)
    link         the link's target, never followed
    dir          b"", only for folders of which nothing else is in the tree
    omitted      size and time of a file that was too large or could not be read; such a tree cannot be replayed

A tree's id is the sha256 of its canonical spelling: entries sorted by path, each ``letter path NUL value NUL``, content
digests in hex. Sockets, fifos and devices are left out and counted. The walk goes by folder descriptors and follows no
link, so a folder swapped for a link while it runs cannot make it read anything outside the workspace.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

Entry = tuple[str, bytes]
Tree = dict[bytes, Entry]
FILE, EXEC, LINK, FOLDER, OMITTED = "file", "exec", "link", "dir", "omitted"
_LETTERS = {FILE: b"f", EXEC: b"x", LINK: b"l", FOLDER: b"d", OMITTED: b"o"}
_MODES = {letter[0]: mode for mode, letter in _LETTERS.items()}
_GONE = ord("-")

REPOSITORIES = frozenset({".git", ".jj", ".hg"})
CACHES = frozenset({
    "__pycache__", "node_modules", ".venv", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis",
    ".tox", ".nox", ".gradle", ".npm", ".parcel-cache", ".turbo",
})  # fmt: skip
IGNORE = REPOSITORIES | CACHES

YOUNG_NS = 20_000_000  # a stat this fresh may hide a second write in the same clock tick
DEEPEST = 200  # folders; every level holds one descriptor
LONGEST = 3500  # bytes of a path

StatKey = tuple[int, int, int, int, int, int]
Cache = dict[bytes, tuple[StatKey, Entry]]
# (name, descriptor of its folder, its stat) -> entry, or None when it cannot be had
ReadFile = Callable[[str, int, os.stat_result], Entry | None]


def spell(path: bytes, entry: Entry) -> bytes:
    """One entry of the canonical spelling."""
    mode, value = entry
    shown = value.hex().encode() if mode in (FILE, EXEC) else value
    return _LETTERS[mode] + path + b"\0" + shown + b"\0"


def canonical(tree: Tree) -> bytes:
    """The one spelling of a tree."""
    return b"".join([spell(path, tree[path]) for path in sorted(tree)])


def tree_digest(tree: Tree) -> bytes:
    """The tree's id as 32 bytes."""
    return hashlib.sha256(canonical(tree)).digest()


def parse(spelling: bytes, base: Tree | None = None) -> Tree:
    """A tree from its spelling; with `base`, from the entries in which it differs (letter ``-``: no longer there)."""
    tree = dict(base or {})
    parts = spelling.split(b"\0")
    for head, value in zip(parts[0:-1:2], parts[1::2], strict=False):
        if head[0] == _GONE:
            tree.pop(head[1:], None)
        else:
            mode = _MODES[head[0]]
            tree[head[1:]] = (mode, bytes.fromhex(value.decode()) if mode in (FILE, EXEC) else value)
    return tree


def difference(old: Tree, new: Tree) -> bytes:
    """The entries in which `new` differs from `old`, for parse(..., base=old)."""
    changed = [spell(path, entry) for path, entry in new.items() if old.get(path) != entry]
    return b"".join(changed + [b"-" + path + b"\0\0" for path in old if path not in new])


@dataclass(slots=True)
class Seen:
    """One walk: the tree, when, and what was left out."""

    tree: Tree = field(default_factory=dict)
    began_ns: int = 0  # monotonic
    ended_ns: int = 0
    wall_ns: int = 0  # real-time clock when it began
    newest_ns: int = 0  # latest change time of any file or folder seen, real-time clock
    skipped: Counter[str] = field(default_factory=Counter)  # socket, fifo, device, unreadable, too_deep

    @property
    def quiet_ns(self) -> int:
        """How long nothing had changed when the walk began."""
        return self.wall_ns - self.newest_ns


class Walk:
    """One pass over a folder. `cache` is the last pass's; afterwards `kept` is the one for the next."""

    def __init__(self, read: ReadFile, ignore: frozenset[str], cache: Cache, *, at_rest: bool = False) -> None:
        self._read = read
        self._ignore = ignore
        self._cache = cache
        self._at_rest = at_rest
        self.kept: Cache = {}
        self.seen = Seen()
        self.on_folder: Callable[[int], None] | None = None  # told of each folder's descriptor before it is listed

    def run(self, root: Path) -> Seen:
        """Walk `root`. With `at_rest` nothing may be changing it: no stat is trusted and locked files are opened up."""
        self.seen.began_ns, self.seen.wall_ns = time.monotonic_ns(), time.time_ns()
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._folder(descriptor, b"", 0)
        finally:
            os.close(descriptor)
        self.seen.ended_ns = time.monotonic_ns()
        return self.seen

    def _folder(self, descriptor: int, prefix: bytes, depth: int) -> None:
        if self.on_folder:
            self.on_folder(descriptor)
        self.seen.newest_ns = max(self.seen.newest_ns, os.fstat(descriptor).st_ctime_ns)
        with os.scandir(descriptor) as found:
            entries = list(found)
        before = len(self.seen.tree)
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # gone again
            self._one(descriptor, entry.name, prefix, status, depth)
        if prefix and len(self.seen.tree) == before:
            self.seen.tree[prefix[:-1]] = (FOLDER, b"")

    def _one(self, descriptor: int, name: str, prefix: bytes, status: os.stat_result, depth: int) -> None:
        path = prefix + os.fsencode(name)
        kind = stat.S_IFMT(status.st_mode)
        if name in self._ignore and (kind == stat.S_IFDIR or name in REPOSITORIES):
            return
        if kind == stat.S_IFREG:
            self._file(descriptor, name, path, status)
        elif kind == stat.S_IFDIR:
            self._enter(descriptor, name, path, depth)
        elif kind == stat.S_IFLNK:
            try:
                self.seen.tree[path] = (LINK, os.fsencode(os.readlink(name, dir_fd=descriptor)))
                self.seen.newest_ns = max(self.seen.newest_ns, status.st_ctime_ns)
            except OSError:
                pass  # replaced meanwhile; the next look sees by what
        else:
            self.seen.skipped[_KINDS.get(kind, "device")] += 1

    def _file(self, descriptor: int, name: str, path: bytes, status: os.stat_result) -> None:
        changed = status.st_ctime_ns
        key = (status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns, changed, status.st_mode)
        self.seen.newest_ns = max(self.seen.newest_ns, changed)
        known = self._cache.get(path)
        if known is not None and known[0] == key and not self._at_rest:
            entry: Entry | None = known[1]
        else:
            entry = self._read(name, descriptor, status)
        if entry is None:
            self.seen.skipped["unreadable"] += 1
            entry = (OMITTED, b"%d:%d" % (status.st_size, status.st_mtime_ns))
        self.seen.tree[path] = entry
        if self.seen.wall_ns - changed > YOUNG_NS:
            self.kept[path] = (key, entry)

    def _enter(self, descriptor: int, name: str, path: bytes, depth: int) -> None:
        if depth >= DEEPEST or len(path) > LONGEST:
            self.seen.skipped["too_deep"] += 1
            self.seen.tree[path] = (OMITTED, b"")
            return
        try:
            inner = _open_folder(name, descriptor, self._at_rest)
        except PermissionError:
            self.seen.skipped["unreadable"] += 1
            self.seen.tree[path] = (OMITTED, b"")
            return
        except OSError:
            return  # gone, or no folder any more
        try:
            self._folder(inner, path + b"/", depth + 1)
        finally:
            os.close(inner)


_KINDS = {stat.S_IFSOCK: "socket", stat.S_IFIFO: "fifo"}


def _open_folder(name: str, descriptor: int, at_rest: bool) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=descriptor)
    except PermissionError:
        if not at_rest:
            raise
        os.chmod(name, 0o700, dir_fd=descriptor)  # nothing runs any more; a locked folder hides nothing
        return os.open(name, flags, dir_fd=descriptor)
