"""Plain git: nothing to prepare, nothing refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairtrial.toolsets import _start
from fairtrial.toolsets.git.classes import MUTATIONS, READS, SELECTOR_ERRORS

__all__ = ["BINARIES", "MUTATIONS", "PROTOCOL", "READS", "SELECTOR_ERRORS", "policy", "prepare", "probe_version"]

PROTOCOL = 1
BINARIES = ("git",)


def prepare(workspace: Path) -> None:
    """Git needs no set-up."""


def policy(adoption: str) -> dict[str, Any]:
    """Nothing is refused."""
    return {"refuse": []}


def probe_version() -> str | None:
    """The installed version, None where there is none."""
    return _start.version("git")
