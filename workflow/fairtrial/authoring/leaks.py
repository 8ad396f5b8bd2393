"""No answer within reach: the solution's lines must not occur in workspace, object database or environment."""

from __future__ import annotations

import difflib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from fairtrial.plan.tasks import Task

RUN_OF_LINES = 3  # consecutive added lines of the solution
SMALLEST = 12  # characters in such a run that say something; closing brackets alone do not


def find(task: Task, workspace: Path) -> list[str]:
    """One line per place where an answer was found."""
    runs = sorted(set(added_runs(task)))
    found = []
    for place, text in reachable(workspace):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        present = set(zip(*(lines[i:] for i in range(RUN_OF_LINES)), strict=False))
        found += [f"leak: {place} holds lines of the solution: {run[0]!r} ..." for run in runs if run in present][:1]
    return found + [f"leak: {line}" for line in history(workspace)]


def added_runs(task: Task) -> Iterator[tuple[str, ...]]:
    """Every three consecutive lines that the solution adds, without indentation and blank lines."""
    solution = task.folder / "solution"
    for path in sorted(p for p in solution.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
        name = path.relative_to(solution)
        old = _lines(task.folder / "workspace" / name)
        for block in _added(old, _lines(path)):
            for i in range(len(block) - RUN_OF_LINES + 1):
                run = tuple(block[i : i + RUN_OF_LINES])
                if sum(map(len, run)) >= SMALLEST:
                    yield run


def _added(old: list[str], new: list[str]) -> Iterator[list[str]]:
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, _, _, begin, end in matcher.get_opcodes():
        if tag in ("insert", "replace"):
            yield new[begin:end]


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    return [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]


def reachable(workspace: Path) -> Iterator[tuple[str, str]]:
    """(place, text) of everything an agent can read: files, every git object, packed or not, and refs."""
    found = repositories(workspace)
    packed = [repository / "objects" for repository in found]
    for path in sorted(workspace.rglob("*")):
        if path.is_file() and not path.is_symlink() and not any(path.is_relative_to(folder) for folder in packed):
            yield str(path.relative_to(workspace)), path.read_text(encoding="utf-8", errors="replace")
    for repository in found:
        yield from objects(repository)


def repositories(workspace: Path) -> list[Path]:
    """Every repository's own folder: the workspace's .git, those of repositories inside it, and bare ones."""
    heads = sorted(path for path in workspace.rglob("HEAD") if path.is_file())
    return [path.parent for path in heads if (path.parent / "objects").is_dir() and (path.parent / "refs").is_dir()]


def objects(repository: Path) -> Iterator[tuple[str, str]]:
    """Every blob, commit, tag and note of a repository, also unreachable ones."""
    listed = _git(repository, "cat-file", "--batch-all-objects", "--batch-check")
    for line in listed.splitlines():
        name, kind, _ = line.split()
        if kind != "tree":
            yield f"git object {name[:10]}", _git(repository, "cat-file", kind, name)


def history(workspace: Path) -> Iterator[str]:
    """Objects no branch reaches, stashes and notes: places where fixes hide. Remotes and tags may be part of a task."""
    for repository in repositories(workspace):
        for line in _git(repository, "fsck", "--unreachable", "--no-reflogs", "--no-progress").splitlines():
            yield f"unreachable {line.removeprefix('unreachable ')}"
        for line in _git(repository, "for-each-ref", "--format=%(refname)").splitlines():
            if line.startswith(("refs/stash", "refs/notes/", "refs/pull/")):
                yield f"ref {line}"


def _git(repository: Path, *arguments: str) -> str:
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    command = ["git", "-c", "core.fsmonitor=false", "--git-dir", str(repository), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace")
