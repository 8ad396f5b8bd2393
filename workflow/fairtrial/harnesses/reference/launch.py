"""Lays the reference solution over the workspace, or runs its script for the toolset in use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import RUN, Bind, Launch, LaunchRequest, Network

PROTOCOL = 1
SIMULATED = False
FREE = True
NEEDS_SOLUTION = True
CAPS: frozenset[str] = frozenset()
NETWORK: Network = "none"
OPTIONS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def launch(request: LaunchRequest) -> Launch:
    """The solution player, inside the box."""
    if request.solution is None:
        raise Fault("other", "the reference harness needs the task's solution/")
    player = Bind(Path(__file__).with_name("player.py"), f"{RUN}/reference/player.py")
    solution = Bind(request.solution, f"{RUN}/reference/solution")
    argv = ("python3", "-I", request.shown(player), request.shown(solution), request.toolset)
    return Launch(argv=argv, binds=(player, solution))


def probe_version(options: dict[str, Any]) -> str | None:
    """It has no version."""
    return None
