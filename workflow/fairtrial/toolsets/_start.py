"""An arm's start: the tool set up before the clock, and proof that Git sees the same repository in every arm."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairtrial import registry
from fairtrial.contracts.errors import Fault

SECONDS = 60
OWN_FOLDERS = frozenset({".git", ".jj"})  # not part of the working tree
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")


def set_up(name: str, workspace: Path, home: Path | None = None, *, adoption: str = "warm") -> None:
    """Make `workspace` ready for the toolset `name` and lay its settings into the agent's `home`.

    adoption warm: the tool is set up; cold: that is left to the agent. Raises Fault('toolset') when the set-up fails
    or changes what Git sees.
    """
    toolset: Any = registry.load("fairtrial.toolsets", name, "toolset", "toolset")
    if home is not None:
        place_home(name, home)
    if adoption != "warm":
        return
    own: Sequence[str] | None = getattr(toolset, "OWN_REFS", None)
    if own is None:  # nothing is set up, so nothing can differ
        toolset.prepare(workspace)
        return
    plain = visible(workspace)
    toolset.prepare(workspace)
    found = visible(workspace, own)
    differing = [part for part, value in plain.items() if found[part] != value]
    if differing:
        raise Fault("toolset", f"{name}: setting it up changed what git sees: {', '.join(differing)}")


def place_home(name: str, home: Path) -> None:
    """The toolset's settings (HOME_FILES: path below HOME -> content), such as who commits."""
    toolset = registry.load("fairtrial.toolsets", name, "toolset", "toolset")
    for inner, content in getattr(toolset, "HOME_FILES", {}).items():
        target = home / inner
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def visible(workspace: Path, own_refs: Sequence[str] = ()) -> dict[str, str]:
    """Digests of what Git sees: head (commit), refs, index (against head), worktree (names, modes, contents).

    `own_refs`: prefixes of a tool's own refs. They are left out; where HEAD is one of them, the commit below counts.
    """
    head = _git(workspace, "rev-parse", "--verify", "--quiet", "HEAD").strip()
    if own_refs and _git(workspace, "symbolic-ref", "--quiet", "HEAD").strip().startswith(tuple(own_refs)):
        head = _git(workspace, "rev-parse", "--verify", "--quiet", "HEAD^").strip()
    lines = _git(workspace, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    refs = "\n".join(line for line in lines if not line.startswith(tuple(own_refs)))
    # An entry that only announces a new file (intent to add) is not in the tree a commit would have.
    index = _git(workspace, "diff-index", "--cached", "--ita-invisible-in-index", head, "--") if head else ""
    return {
        "head": head,
        "refs": hashlib.sha256(refs.encode()).hexdigest(),
        "index": hashlib.sha256(index.encode()).hexdigest(),
        "worktree": _worktree(workspace),
    }


def _worktree(workspace: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(workspace.rglob("*")):
        inner = path.relative_to(workspace)
        if OWN_FOLDERS & set(inner.parts) or (path.is_dir() and not path.is_symlink()):
            continue
        content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        mode = stat.S_IFMT(path.lstat().st_mode) | (path.lstat().st_mode & stat.S_IXUSR)
        total.update(f"{inner}\0{mode:o}\0{hashlib.sha256(content).hexdigest()}\n".encode(errors="surrogateescape"))
    return total.hexdigest()


def _git(workspace: Path, *arguments: str) -> str:
    done = run([*_GIT, "-C", str(workspace), *arguments], workspace, {})
    return done.stdout.decode("utf-8", "replace")


def run(argv: Sequence[str], workspace: Path, more: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    """Run a tool of the host's in `workspace` with nobody's settings. Raises Fault('toolset') when it cannot start."""
    nothing = {"PATH": os.environ.get("PATH", os.defpath), "HOME": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
               "GIT_CONFIG_GLOBAL": os.devnull, "LANG": "C.UTF-8", "TZ": "UTC"}  # fmt: skip
    try:
        return subprocess.run(
            argv, cwd=workspace, env={**nothing, **more},
            stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Fault("toolset", f"{argv[0]}: {problem}") from problem


def must(argv: Sequence[str], workspace: Path, more: Mapping[str, str]) -> str:
    """Standard output of a command that has to succeed. Raises Fault('toolset') with what it said."""
    done = run(argv, workspace, more)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-300:]
        raise Fault("toolset", f"`{' '.join(argv)}` ended with status {done.returncode}: {said}")
    return done.stdout.decode("utf-8", "replace")


def version(program: str) -> str | None:
    """What `program --version` says first that begins with a digit; None when it is not installed."""
    import re

    try:
        done = run([program, "--version"], Path("/"), {})
    except Fault:
        return None
    found = re.search(rb"\d+(\.\d+)+", done.stdout)
    return found.group().decode() if found else None


# What `git` would do past the tool under test. Reading with git stays allowed in every arm; a rule sees plain words
# only, so `branch` and `tag`, which read as often as they write, are not among them.
GIT_WRITES = (
    "add", "am", "apply", "bisect", "checkout", "cherry-pick", "clean", "commit", "commit-tree", "fast-import", "fetch",
    "filter-branch", "gc", "init", "merge", "mktree", "mv", "notes add", "pack-refs", "prune", "pull", "push",
    "read-tree", "rebase", "reflog delete", "reflog expire", "replace", "rerere", "reset", "restore", "revert", "rm",
    "stash", "switch", "unpack-objects", "update-index", "update-ref", "worktree add", "worktree remove", "write-tree",
)  # fmt: skip


def git_writes_refused(instead: str) -> dict[str, Any]:
    """A policy: git may read, `instead` writes."""
    why = f"change the repository with {instead}; git may only read"
    return {"refuse": [{"command": "git", "subcommands": list(GIT_WRITES), "why": why}]}
