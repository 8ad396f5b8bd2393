"""workspace.patch: two kept trees to a diff that `git apply` turns back into the second tree, exactly.

Git only ever sees a bare repository made here, outside the workspace, that holds the files that differ: blobs and
trees are written as loose objects (no filter, attribute, hook or configuration of the agent's can matter, nested
repositories are plain folders, links are link texts), then one `git diff-tree` compares the two trees. What lies
inside .git, .jj and .hg is left out, and so are the few names for which `git apply` refuses a whole patch. Empty
folders cannot stand in a patch; they are in the kept trees.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairtrial.contracts.lean import field, lean
from fairtrial.instruments.snapshots.manifest import CACHES, EXEC, FILE, LINK, OMITTED, REPOSITORIES, Entry, Tree
from fairtrial.instruments.snapshots.store import Store

MOST_BYTES = 64 << 20  # of changed content; more makes no patch
MOST_HASHES = 4096
_MODES = {FILE: b"100644", EXEC: b"100755", LINK: b"120000"}
_INTERNAL = frozenset(os.fsencode(name) for name in REPOSITORIES)
_CACHES = frozenset(os.fsencode(name) for name in CACHES)
_DIFF = ("-p", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color")


@lean
class Patch:
    """A diff and its figures. `content` is None when it could not be made; `reason` says why.

    Caches (node_modules and the like) are in the patch but in none of the figures. `line_hashes`: 16 hex digits of
    sha256(sign + stripped line) of the changed lines, the smallest 4096, so that the overlap of two such lists
    estimates how alike two approaches are.
    """

    content: bytes | None
    reason: str | None = None
    files_changed: int = 0
    lines_added: int | None = None
    lines_removed: int | None = None
    line_hashes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # changed, but too large, unreadable or refused by git apply

    def facts(self) -> dict[str, Any]:
        """The figures without the hashes."""
        return {
            "bytes": None if self.content is None else len(self.content),
            "sha256": None if self.content is None else hashlib.sha256(self.content).hexdigest(),
            "reason": self.reason,
            "files_changed": self.files_changed,
            "lines_added": self.lines_added,
            "lines_removed": self.lines_removed,
            "left_out": self.left_out,
        }


def make_patch(store: Store, start: str, end: str, scratch: Path) -> Patch:
    """The patch from tree `start` to tree `end` (ids), both kept in `store`; its content needs git, and a folder."""
    old, new = changes(store.tree(start), store.tree(end))
    omitted = sorted(
        {p for tree in (old, new) for p, entry in tree.items() if entry[0] == OMITTED or refused(p, entry)}
    )
    patch = Patch(None, files_changed=sum(not _CACHES.intersection(p.split(b"/")) for p in {**old, **new}))
    patch.left_out = [os.fsdecode(path).encode("utf-8", "replace").decode() for path in omitted[:100]]
    for path in omitted:
        old.pop(path, None)
        new.pop(path, None)
    if not old and not new:
        patch.content, patch.lines_added, patch.lines_removed = b"", 0, 0
        return patch
    git = shutil.which("git")
    if git is None:
        patch.reason = "git is not installed"
        return patch
    try:
        patch.content = _git_diff(git, store, old, new, scratch)
    except _TooLarge:
        patch.reason = f"more than {MOST_BYTES >> 20} MiB of files differ"
    except subprocess.CalledProcessError as error:
        patch.reason = f"git diff-tree failed: {error.stderr.decode('utf-8', 'replace').strip()[:200]}"
    if patch.content is not None:
        count_lines(patch)
    return patch


def changes(start: Tree, end: Tree) -> tuple[Tree, Tree]:
    """The entries that differ, as they were and as they are; repository internals and empty folders left out."""
    start, end = _plain(start), _plain(end)
    old = {path: entry for path, entry in start.items() if end.get(path) != entry}
    return old, {path: entry for path, entry in end.items() if start.get(path) != entry}


def _plain(tree: Tree) -> Tree:
    kinds = (*_MODES, OMITTED)
    return {p: e for p, e in tree.items() if e[0] in kinds and _INTERNAL.isdisjoint(p.split(b"/"))}


def refused(path: bytes, entry: Entry) -> bool:
    """Would `git apply` refuse the whole patch because of this name: .git in disguise, or a link .gitmodules?"""
    plain = [part.split(b":")[0].split(b"\\")[0].rstrip(b". ").lower() for part in path.split(b"/")]
    return b".git" in plain or b"git~1" in plain or (entry[0] == LINK and plain[-1] in (b".gitmodules", b"gitmod~1"))


class _TooLarge(Exception):
    pass


def _git_diff(git: str, store: Store, old: Tree, new: Tree, scratch: Path) -> bytes:
    folder = scratch / f"diff-{os.urandom(4).hex()}"
    try:
        objects = _Objects(folder / "objects", store)
        (folder / "refs").mkdir()
        (folder / "HEAD").write_bytes(b"ref: refs/heads/none\n")
        (folder / "config").write_bytes(b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n")
        trees = [objects.tree(old).hex(), objects.tree(new).hex()]
        done = subprocess.run(
            [git, f"--git-dir={folder}", "diff-tree", "-r", *_DIFF, *trees],
            env=_environment(), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True,
        )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return quote_headers(done.stdout)


def quote_headers(patch: bytes) -> bytes:
    """Quote names in ``diff --git`` lines that git itself prints and cannot read: a folder ending in a blank.

    It matters where no ---/+++ lines follow: empty files, changes of mode only, binary files.
    """
    if b" /" not in patch:
        return patch
    lines = patch.split(b"\n")
    for number in headers(lines):
        line = lines[number]
        name = line[len(b"diff --git a/") : (len(line) + len(b"diff --git a/") - len(b" b/")) // 2]
        if b" /" in name and line == b"diff --git a/%b b/%b" % (name, name):
            lines[number] = b'diff --git "a/%b" "b/%b"' % (name, name)
    return b"\n".join(lines)


def headers(lines: list[bytes]) -> Iterator[int]:
    """Numbers of the ``diff --git`` lines; hunk headers say how many lines to pass over."""
    left = [0, 0]
    for number, line in enumerate(lines):
        if left[0] > 0 or left[1] > 0:
            left[0] -= line[:1] in (b" ", b"-")
            left[1] -= line[:1] in (b" ", b"+")
        elif line.startswith(b"@@ -"):
            left = _hunk(line)
        elif line.startswith(b"diff --git "):
            yield number


def _environment() -> dict[str, str]:
    """No configuration and no attributes of this machine either."""
    nowhere = os.devnull
    return {
        "PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "HOME": nowhere, "XDG_CONFIG_HOME": nowhere,
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_SYSTEM": nowhere, "GIT_CONFIG_GLOBAL": nowhere,
        "GIT_ATTR_NOSYSTEM": "1", "GIT_OPTIONAL_LOCKS": "0",
    }  # fmt: skip


class _Objects:
    """Git's loose objects, written directly: what hash-object, update-index and write-tree would leave."""

    def __init__(self, folder: Path, store: Store) -> None:
        self._folder = folder
        self._store = store
        self._bytes = 0
        folder.mkdir(parents=True)

    def tree(self, tree: Tree) -> bytes:
        """Write a tree with all it holds; returns its sha1."""
        here: dict[bytes, tuple[bytes, bytes]] = {}
        below: dict[bytes, Tree] = {}
        for path, entry in tree.items():
            first, _, rest = path.partition(b"/")
            if rest:
                below.setdefault(first, {})[rest] = entry
            else:
                here[first] = (_MODES[entry[0]], self._blob(entry))
        for name, inner in below.items():
            here[name] = (b"40000", self.tree(inner))
        ordered = sorted(here, key=lambda name: name + b"/" if name in below else name)
        return self._write(b"tree", b"".join(b"%b %b\0%b" % (here[name][0], name, here[name][1]) for name in ordered))

    def _blob(self, entry: Entry) -> bytes:
        content = entry[1] if entry[0] == LINK else self._store.content(entry[1])
        self._bytes += len(content)
        if self._bytes > MOST_BYTES:
            raise _TooLarge
        return self._write(b"blob", content)

    def _write(self, kind: bytes, content: bytes) -> bytes:
        whole = b"%b %d\0%b" % (kind, len(content), content)
        digest = hashlib.sha1(whole, usedforsecurity=False)
        name = digest.hexdigest()
        folder = self._folder / name[:2]
        folder.mkdir(exist_ok=True)
        (folder / name[2:]).write_bytes(zlib.compress(whole, 1))
        return digest.digest()


def count_lines(patch: Patch) -> None:
    """Fill in the line figures from the patch's text; hunk headers say how many lines follow."""
    added = removed = 0
    hashes: set[str] = set()
    left = [0, 0]  # old and new lines still to come in this hunk
    counted = True
    for line in (patch.content or b"").split(b"\n"):
        sign = line[:1]
        if left[0] <= 0 and left[1] <= 0:
            if line.startswith(b"diff --git "):
                counted = not any(b"/" + name + b"/" in line for name in _CACHES)
            elif line.startswith(b"@@ -"):
                left = _hunk(line)
            continue
        left[0] -= sign in (b" ", b"-")
        left[1] -= sign in (b" ", b"+")
        if counted and sign in (b"+", b"-"):
            added += sign == b"+"
            removed += sign == b"-"
            if stripped := line[1:].strip():
                hashes.add(hashlib.sha256(sign + stripped).hexdigest()[:16])
    patch.lines_added, patch.lines_removed = added, removed
    patch.line_hashes = sorted(hashes)[:MOST_HASHES]


def _hunk(line: bytes) -> list[int]:
    """Old and new line counts of ``@@ -a,b +c,d @@``; a missing count is 1."""
    old, new = line.split(b" ", 3)[1:3]
    return [int(side.partition(b",")[2] or 1) for side in (old, new)]
