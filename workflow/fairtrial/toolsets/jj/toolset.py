"""Jujutsu: a colocated repository, git may only read."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import Fault
from fairtrial.toolsets import _start
from fairtrial.toolsets.jj.classes import MUTATIONS, READS, SELECTOR_ERRORS

__all__ = ["BINARIES", "HOME_FILES", "MUTATIONS", "OWN_REFS", "PROTOCOL", "READS", "SELECTOR_ERRORS", "policy",
           "prepare", "probe_version"]  # fmt: skip

PROTOCOL = 1
BINARIES = ("jj",)
OWN_REFS = ("refs/jj/",)

SETTINGS = b"""\
[user]
name = "agent"
email = "agent@example.invalid"
[ui]
color = "never"
paginate = "never"
editor = "true"
"""
# The same operation and change identifiers in every attempt of a recipe.
FIXED = b"""\
[debug]
commit-timestamp = "2001-01-01T00:00:00+00:00"
operation-timestamp = "2001-01-01T00:00:00+00:00"
randomness-seed = 1
[operation]
hostname = "bench"
username = "agent"
"""
HOME_FILES = {".config/jj/config.toml": SETTINGS}  # relative to HOME


def prepare(workspace: Path) -> None:
    """`jj git init --colocate`; local branches that follow a remote one keep doing so. Raises Fault('toolset')."""
    with tempfile.TemporaryDirectory(prefix="ft-") as name:
        config = Path(name) / "config.toml"
        config.write_bytes(SETTINGS + FIXED)
        more = {"HOME": name, "JJ_CONFIG": str(config)}
        if not (workspace / ".git").is_dir():
            raise Fault("toolset", "jj: the start has no repository; tasks for jj build one in workspace.sh")
        _start.must(["jj", "git", "init", "--colocate", "."], workspace, more)
        for bookmark in _followers(workspace):
            _start.must(["jj", "bookmark", "track", bookmark], workspace, more)
        _start.must(["jj", "status"], workspace, more)  # a first look, so that the agent's does not pay for it


def _followers(workspace: Path) -> list[str]:
    """branch@remote of every local branch with an upstream of its own name that it has not parted from."""
    form = "--format=%(refname:short) %(upstream:remotename) %(upstream:remoteref) %(upstream:track,nobracket)"
    found = []
    for line in _start.must(["git", "for-each-ref", form, "refs/heads/"], workspace, {}).splitlines():
        branch, _, rest = line.partition(" ")
        remote, _, rest = rest.partition(" ")
        theirs, _, state = rest.partition(" ")
        if remote and theirs == f"refs/heads/{branch}" and "behind" not in state and state != "gone":
            found.append(f"{branch}@{remote}")
    return found


def policy(adoption: str) -> dict[str, Any]:
    """Git's commands that write are refused, also while the tool is still to be set up."""
    return _start.git_writes_refused("jj")


def probe_version() -> str | None:
    """The installed version, None where there is none."""
    return _start.version("jj")
