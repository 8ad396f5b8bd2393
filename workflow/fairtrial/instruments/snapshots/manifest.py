"""What is in a folder at one moment: paths to entries, and their one spelling.

A tree maps a path (bytes, relative, ``/`` between names) to an entry ``(mode, value)``:

    file, exec   sha256 of the content, 32 bytes (exec: the owner may run it)
    link         the link's target, never followed
    dir          b"", only for folders of which nothing else is in the tree
    omitted      size and time of a file that was too large or could not be read; such a tree cannot be replayed

A tree's id is the sha256 of its canonical spelling: entries sorted by path, each ``letter path NUL value NUL``, content
digests in hex.
"""

from __future__ import annotations

import hashlib

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


def spell(path: bytes, entry: Entry) -> bytes:
    """One entry of the canonical spelling."""
    mode, value = entry
    shown = value.hex().encode() if mode in (FILE, EXEC) else value
    return _LETTERS[mode] + path + b"\0" + shown + b"\0"


def canonical(tree: Tree) -> bytes:
    """The one spelling of a tree."""
    return b"".join([spell(path, tree[path]) for path in sorted(tree)])


class Speller:
    """canonical for trees that change little: the spelling of each entry is remembered, by identity."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[Entry, bytes]] = {}

    def __call__(self, tree: Tree) -> bytes:
        """The one spelling of a tree."""
        known, lines = self._known, []
        if len(known) > 2 * len(tree) + 1000:
            known.clear()
        for path in sorted(tree):
            entry = tree[path]
            line = known.get(path)
            if line is None or line[0] is not entry:
                line = known[path] = (entry, spell(path, entry))
            lines.append(line[1])
        return b"".join(lines)


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
