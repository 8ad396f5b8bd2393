"""What a version-control tool holds, read from files as data; no tool is ever run on the agent's repository."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairtrial.instruments.snapshots.manifest import EXEC, FILE, REPOSITORIES, Tree

MOST_REFS = 2000
MOST_FILES = 3000
_REFS = b".git/refs/"


def repository(tree: Tree, content: Callable[[bytes], bytes]) -> dict[str, Any] | None:
    """HEAD, refs and the index's sha256 of the .git (jj: the operation heads) at the top of a captured tree.

    `content` gives a file's bytes by digest. None when the tree holds no repository. Loose refs win over packed ones.
    """
    if b".git/HEAD" not in tree and not any(path.startswith(b".jj/") for path in tree):
        return None

    def text(path: bytes) -> str | None:
        mode, value = tree.get(path, ("", b""))
        return content(value)[:4096].decode("utf-8", "replace").strip() if mode in (FILE, EXEC) else None

    refs = _packed(tree, content)
    for path in tree:
        if path.startswith(_REFS) and (value := text(path)) is not None:
            refs[path[len(b".git/") :].decode("utf-8", "replace")] = value
    index = tree.get(b".git/index")
    heads = sorted(
        p.rpartition(b"/")[2].decode("utf-8", "replace") for p in tree if p.startswith(b".jj/repo/op_heads/heads/")
    )
    return {
        "head": text(b".git/HEAD"),
        "refs": dict(sorted(refs.items())[:MOST_REFS]),
        "index_sha256": index[1].hex() if index and index[0] in (FILE, EXEC) else None,
        "jj_operations": heads,
    }


def small(root: Path) -> bool:
    """Is the repository at the top of the workspace small enough to be part of every snapshot?"""
    count = 0
    for name in REPOSITORIES:
        for _, _, files in os.walk(root / name):
            count += len(files)
            if count > MOST_FILES:
                return False
    return True


def _packed(tree: Tree, content: Callable[[bytes], bytes]) -> dict[str, str]:
    mode, value = tree.get(b".git/packed-refs", ("", b""))
    if mode not in (FILE, EXEC):
        return {}
    found: dict[str, str] = {}
    for line in content(value).decode("utf-8", "replace").splitlines()[: 2 * MOST_REFS]:
        commit, _, name = line.partition(" ")
        if name and line[0] not in "#^":
            found[name] = commit
    return found
