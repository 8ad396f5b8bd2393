"""The walk that finds what is in a folder, whole or only where something changed.

It goes by folder descriptors and follows no link, so a folder swapped for a link meanwhile cannot make it read
anything outside the workspace. Sockets, fifos and devices are left out and counted.
"""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from fairtrial.contracts.lean import field, lean
from fairtrial.instruments.snapshots.manifest import FOLDER, LINK, OMITTED, REPOSITORIES, Entry, Tree

YOUNG_NS = 20_000_000  # a stat this fresh may hide a second write in the same clock tick
DEEPEST = 200  # folders; every level holds one descriptor
LONGEST = 3500  # bytes of a path

StatKey = tuple[int, int, int, int, int, int]
Cache = dict[bytes, tuple[StatKey, Entry]]
# (name, descriptor of its folder, its stat) -> entry, or None when it cannot be had
ReadFile = Callable[[str, int, os.stat_result], Entry | None]


@lean
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


class Outdated(Exception):
    """Folders came or went, so single folders cannot be looked at again; walk everything."""


class Walk:
    """One pass over a folder. `last` is the pass before it, whose stats save reading what did not change."""

    def __init__(
        self, read: ReadFile, ignore: frozenset[str], last: Walk | None = None, *, at_rest: bool = False
    ) -> None:
        self._read = read
        self._ignore = ignore
        self._last = last
        self._at_rest = at_rest
        self._cache: Cache = last.kept if last else {}
        self._enters = True
        self.kept: Cache = {}
        self.folders: dict[bytes, Tree] = {}  # by prefix: entries directly in it, or the one of the empty folder
        self.seen = Seen()
        self.on_folder: Callable[[int, bytes], None] | None = None  # descriptor and prefix, before it is listed

    def run(self, root: Path) -> Seen:
        """Walk `root`. With `at_rest` nothing may be changing it: no stat is trusted and locked files are opened up."""
        self.seen.began_ns, self.seen.wall_ns = time.monotonic_ns(), time.time_ns()
        descriptor = os.open(root, _FOLDER_FLAGS)
        try:
            self._folder(descriptor, b"", 0)
        finally:
            os.close(descriptor)
        for entries in self.folders.values():
            self.seen.tree.update(entries)
        self.seen.ended_ns = time.monotonic_ns()
        return self.seen

    def again(self, root: Path, changed: Iterable[bytes]) -> Seen:
        """Look only at the paths `changed` again, none of them a folder; all else is as in the last pass.

        Raises Outdated when folders came or went.
        """
        last = self._last
        if last is None:
            raise Outdated
        self.seen.began_ns, self.seen.wall_ns = time.monotonic_ns(), time.time_ns()
        self.seen.newest_ns = last.seen.newest_ns
        self._enters = False
        self.folders, self.kept, self.seen.tree = dict(last.folders), dict(last.kept), dict(last.seen.tree)
        by_folder: dict[bytes, list[bytes]] = {}
        for path in changed:
            folder, slash, name = path.rpartition(b"/")
            by_folder.setdefault(folder + slash, []).append(name)
        for prefix, names in by_folder.items():
            before = self.folders.get(prefix)
            if before is None:
                raise Outdated
            descriptor = _descend(root, prefix)
            try:
                here = self._some(descriptor, prefix, names, before)
            finally:
                os.close(descriptor)
            for path in before.keys() - here.keys():
                self.seen.tree.pop(path, None)
            self.seen.tree.update(here)
        self.seen.ended_ns = time.monotonic_ns()
        return self.seen

    def _some(self, descriptor: int, prefix: bytes, names: list[bytes], before: Tree) -> Tree:
        """The folder's entries with those of `names` looked at again."""
        here = dict(before)
        self.seen.newest_ns = max(self.seen.newest_ns, os.fstat(descriptor).st_ctime_ns)
        for raw in names:
            path, name = prefix + raw, os.fsdecode(raw)
            here.pop(path, None)
            self.kept.pop(path, None)
            try:
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except OSError:
                continue  # gone
            if name in self._ignore and (name in REPOSITORIES or stat.S_ISDIR(status.st_mode)):
                continue
            if stat.S_ISDIR(status.st_mode):
                raise Outdated
            if entry := self._leaf(descriptor, name, path, status):
                here[path] = entry
        if not here or prefix[:-1] in here:  # is it empty, or does it hold folders? list it
            self._folder(descriptor, prefix, prefix.count(b"/"))
        else:
            self.folders[prefix] = here
        return self.folders[prefix]

    def _folder(self, descriptor: int, prefix: bytes, depth: int) -> None:
        if self.on_folder and self._enters:
            self.on_folder(descriptor, prefix)
        self.seen.newest_ns = max(self.seen.newest_ns, os.fstat(descriptor).st_ctime_ns)
        with os.scandir(descriptor) as found:
            entries = list(found)
        here: Tree = {}
        inner = False
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue  # gone again
            path = prefix + os.fsencode(entry.name)
            is_folder = stat.S_ISDIR(status.st_mode)
            if entry.name in self._ignore and (is_folder or entry.name in REPOSITORIES):
                continue
            if is_folder:
                inner |= self._inner(descriptor, entry.name, path, depth, here)
            elif found_entry := self._leaf(descriptor, entry.name, path, status):
                here[path] = found_entry
        if prefix and not here and not inner:
            here[prefix[:-1]] = (FOLDER, b"")
        self.folders[prefix] = here

    def _leaf(self, descriptor: int, name: str, path: bytes, status: os.stat_result) -> Entry | None:
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFREG:
            return self._file(descriptor, name, path, status)
        if kind == stat.S_IFLNK:
            self.seen.newest_ns = max(self.seen.newest_ns, status.st_ctime_ns)
            try:
                return LINK, os.fsencode(os.readlink(name, dir_fd=descriptor))
            except OSError:
                return None  # replaced meanwhile; the next look sees by what
        self.seen.skipped[_KINDS.get(kind, "device")] += 1
        return None

    def _file(self, descriptor: int, name: str, path: bytes, status: os.stat_result) -> Entry:
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
        if self.seen.wall_ns - changed > YOUNG_NS:
            self.kept[path] = (key, entry)
        return entry

    def _inner(self, descriptor: int, name: str, path: bytes, depth: int, here: Tree) -> bool:
        """Walk a folder in a folder; False when it turned out to be gone."""
        if not self._enters:
            return self._known(path, here)
        problem = "too_deep" if depth >= DEEPEST or len(path) > LONGEST else ""
        try:
            inner = -1 if problem else _open_folder(name, descriptor, self._at_rest)
        except PermissionError:
            inner, problem = -1, "unreadable"
        except OSError:
            return False  # gone, or no folder any more
        if problem:
            self.seen.skipped[problem] += 1
            here[path] = (OMITTED, b"")
            return True
        try:
            self._folder(inner, path + b"/", depth + 1)
        finally:
            os.close(inner)
        return True

    def _known(self, path: bytes, here: Tree) -> bool:
        if path + b"/" in self.folders:
            return True
        omitted = self._last.seen.tree.get(path) if self._last else None
        if omitted is None or omitted[0] != OMITTED:
            raise Outdated
        here[path] = omitted
        return True


_KINDS = {stat.S_IFSOCK: "socket", stat.S_IFIFO: "fifo"}
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def _descend(root: Path, prefix: bytes) -> int:
    """A descriptor of the folder `prefix` below `root`, reached without following a link. Raises Outdated."""
    descriptor = os.open(root, _FOLDER_FLAGS)
    for name in prefix.split(b"/")[:-1]:
        outer = descriptor
        try:
            descriptor = os.open(name, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=outer)
        except OSError:
            raise Outdated from None
        finally:
            os.close(outer)
    return descriptor


def _open_folder(name: str, descriptor: int, at_rest: bool) -> int:
    flags = _FOLDER_FLAGS | os.O_NOFOLLOW
    try:
        return os.open(name, flags, dir_fd=descriptor)
    except PermissionError:
        if not at_rest:
            raise
        os.chmod(name, 0o700, dir_fd=descriptor)  # nothing runs any more; a locked folder hides nothing
        return os.open(name, flags, dir_fd=descriptor)
