"""What version control in the workspace says of itself, read as plain files: no program runs on the agent's
repository, no link is followed. Compared with the trace it shows what went past the shims."""

from __future__ import annotations

import stat
from collections import Counter
from pathlib import Path

from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import Json

MOST_BYTES = 8 << 20


@lean(frozen=True)
class State:
    """Reflog lines of HEAD and the number of jj operations; None: there is none, or it cannot be read."""

    reflog: tuple[bytes, ...] | None
    operations: int | None


def _plain(top: Path, *parts: str) -> Path | None:
    """The path below `top`, None when anything on the way is a link or missing."""
    path = top
    for part in parts:
        path = path / part
        try:
            if stat.S_ISLNK(path.lstat().st_mode):
                return None
        except OSError:
            return None
    return path


def state(workspace: Path) -> State:
    """What stands in the workspace now."""
    reflog = None
    if _plain(workspace, ".git", "HEAD"):
        reflog = _lines(_plain(workspace, ".git", "logs", "HEAD"))
    folder = _plain(workspace, ".jj", "repo", "op_store", "operations")
    operations = None
    if folder and folder.is_dir():
        operations = sum(1 for _ in folder.iterdir())
    return State(reflog, operations)


def _lines(path: Path | None) -> tuple[bytes, ...] | None:
    if path is None:
        return ()  # a repository without a commit yet has no log
    try:
        if path.stat().st_size > MOST_BYTES or not path.is_file():
            return None
        return tuple(path.read_bytes().splitlines())
    except OSError:
        return None


def change(before: State, after: State) -> Json:
    """What was written between two looks: {"git": {"<action>": entries} | null, "jj": operations | null}.

    Null: nothing to compare, or the log is not a continuation of what it was.
    """
    actions: dict[str, int] | None = None
    if after.reflog is not None:
        known = before.reflog or ()
        if after.reflog[: len(known)] == known:
            actions = dict(sorted(Counter(_action(line) for line in after.reflog[len(known) :]).items()))
    operations = None
    if after.operations is not None and after.operations >= (before.operations or 0):
        operations = after.operations - (before.operations or 0)
    return {"git": actions, "jj": operations}


def _action(line: bytes) -> str:
    message = line.partition(b"\t")[2].decode("utf-8", "replace")
    words = message.split(":", 1)[0].split()
    return words[0][:40] if words else "unnamed"
