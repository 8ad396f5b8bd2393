"""GitButler: the repository is one of its projects, git may only read."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from fairtrial.toolsets import _start
from fairtrial.toolsets.but.classes import MUTATIONS, READS, SELECTOR_ERRORS

__all__ = ["BINARIES", "MUTATIONS", "OWN_REFS", "PROTOCOL", "READS", "SELECTOR_ERRORS", "policy", "prepare",
           "probe_version"]  # fmt: skip

PROTOCOL = 1
BINARIES = ("but",)
# It stands on a branch of its own, keeps its own refs, and adds a remote where there is none.
OWN_REFS = ("refs/gitbutler/", "refs/heads/gitbutler/", "refs/remotes/gb-local/")


def prepare(workspace: Path) -> None:
    """`but setup`. Raises Fault('toolset')."""
    with tempfile.TemporaryDirectory(prefix="ft-") as name:
        who = {"GIT_AUTHOR_NAME": "agent", "GIT_AUTHOR_EMAIL": "agent@example.invalid",
               "GIT_COMMITTER_NAME": "agent", "GIT_COMMITTER_EMAIL": "agent@example.invalid"}  # fmt: skip
        _start.must(["but", "setup"], workspace, {"HOME": name, **who})


def policy(adoption: str) -> dict[str, Any]:
    """Git's commands that write are refused, also while the tool is still to be set up."""
    return _start.git_writes_refused("but")


def probe_version() -> str | None:
    """The installed version, None where there is none."""
    return _start.version("but")
