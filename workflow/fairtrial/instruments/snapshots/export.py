"""Read an attempt's snapshots again: the looks, and the workspace as it was at one of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import load
from fairtrial.instruments.snapshots.manifest import EXEC, FILE, FOLDER, IGNORE, OMITTED, Tree
from fairtrial.instruments.snapshots.store import Store

MOMENTS = "first-green, start, end, or a number of seconds"


class Recording:
    """The snapshots of one attempt folder. Raises UserError when there are none or they are damaged."""

    def __init__(self, attempt_folder: Path) -> None:
        self.folder = attempt_folder
        self.record: dict[str, Any] = load(attempt_folder / "snapshots.json")
        if self.record.get("schema_version") != 1:
            raise UserError(f"{attempt_folder / 'snapshots.json'}: schema_version must be 1")
        pruned = attempt_folder / "pruned.json"
        self.gone = frozenset(load(pruned)["trees"]) if pruned.exists() else frozenset()
        self.looks: list[dict[str, Any]] = [look for look in self.record["looks"] if look["tree"] not in self.gone]
        self.start: str = self.record["start"]
        self.end: str = self.record["end"]
        self.store = Store(attempt_folder / "snapshots")
        base = self.record.get("base")
        names = frozenset(os.fsencode(name) for name in (*IGNORE, *self.record.get("ignore", ())))
        self._base: Tree = (
            {p: e for p, e in self.store.tree(base).items() if not names.isdisjoint(p.split(b"/"))} if base else {}
        )

    def tree(self, tree_id: str) -> Tree:
        """The entries of one look; ignored folders hold what they held at the start."""
        if tree_id in self.gone:
            raise UserError(f"{self.folder}: this snapshot was pruned; start and end are still there")
        tree = self.store.tree(tree_id)
        if tree_id in (self.start, self.end) or not self._base:
            return tree
        return {**{path: entry for path, entry in self._base.items() if not _covered(path, tree)}, **tree}

    def incomplete(self, tree_id: str) -> list[bytes]:
        """Paths of files that were too large or unreadable, so that this tree cannot be judged."""
        return sorted(path for path, entry in self.tree(tree_id).items() if entry[0] == OMITTED)

    def restore(self, tree_id: str, into: Path) -> list[bytes]:
        """Lay a tree out in the new or empty folder `into`; returns the incomplete paths."""
        return self.store.lay_out(self.tree(tree_id), into)

    def most_bytes(self, tree_id: str) -> int:
        """No less than what a tree takes when it is laid out; often many times that."""
        return sum(
            self.store.pack.most_bytes(value) for mode, value in self.tree(tree_id).values() if mode in (FILE, EXEC)
        )

    def changed(self, before: str, after: str) -> set[bytes]:
        """Paths in which two trees differ."""
        old, new = self.tree(before), self.tree(after)
        return {path for path in {*old, *new} if old.get(path) != new.get(path)}

    def at(self, seconds: float) -> str:
        """The tree that stood `seconds` after the agent's start, as far as looks can tell: the last one before."""
        before = [look["tree"] for look in self.record["looks"] if look["at_ns"] <= seconds * 1e9]
        return str(before[-1]) if before else self.start

    def close(self) -> None:
        """Close the pack."""
        self.store.close()


def _covered(path: bytes, tree: Tree) -> bool:
    """Something that is no folder stands where a folder above `path` was: a link called node_modules, say."""
    parts = path.split(b"/")
    above = (tree.get(b"/".join(parts[:end])) for end in range(1, len(parts)))
    return any(entry is not None and entry[0] != FOLDER for entry in above)


def restore_at(attempt_folder: Path, at: str, into: Path, *, grade: str | None = None) -> str:
    """Restore the workspace at a moment (`first-green`, `start`, `end`, SECONDS) into a new folder.

    first-green asks the result.json of `grade` (a name below grades/), else of the newest grade. Returns the tree id;
    raises UserError when the moment is none, never came or its files were not kept.
    """
    recording = Recording(attempt_folder)
    try:
        tree_id = _tree_at(recording, at, grade)
        missing = recording.restore(tree_id, into)
    finally:
        recording.close()
    if missing:
        names = ", ".join(os.fsdecode(path) for path in missing[:5])
        raise UserError(f"{into}: restored without {len(missing)} files that were too large or unreadable: {names}")
    return tree_id


def _tree_at(recording: Recording, at: str, grade: str | None) -> str:
    if at in ("start", "end"):
        return recording.start if at == "start" else recording.end
    if at == "first-green":
        return _first_green(recording, grade)
    try:
        seconds = float(at.removesuffix("s"))
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise UserError(f"--at {at!r}: give {MOMENTS}")
    return recording.at(seconds)


def _first_green(recording: Recording, grade: str | None) -> str:
    results = sorted(recording.folder.glob(f"grades/{grade or '*'}/result.json"), key=lambda p: p.stat().st_mtime_ns)
    if not results:
        raise UserError(
            f"{recording.folder}: is not graded{f' as {grade}' if grade else ''}, so first green is unknown"
        )
    first = load(results[-1])["performance"]["time_cost"]["first_green"]
    if first["upper_seconds"] is None:
        raise UserError(f"{recording.folder}: has no first green ({first['reason']})")
    return str(first.get("tree") or recording.at(first["upper_seconds"]))
