"""Starts a simulated agent: it edits, checks, sometimes fails, and reports invented tokens and cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import RUN, Bind, Launch, LaunchRequest, Network

PROTOCOL = 1
SIMULATED = True
FREE = True
NEEDS_SOLUTION = True
CAPS: frozenset[str] = frozenset()
NETWORK: Network = "none"
OPTIONS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pass_probability": {"type": "number", "minimum": 0, "maximum": 1},
        "mean_seconds": {"type": "number", "minimum": 0},
        "mean_cost_usd": {"type": "number", "minimum": 0},
        "mean_tokens": {"type": "integer", "minimum": 0},
        "fault_probability": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "additionalProperties": False,
}
DEFAULTS = {
    "pass_probability": 0.7,
    "mean_seconds": 0.3,
    "mean_cost_usd": 0.09,
    "mean_tokens": 52_000,
    "fault_probability": 0.0,
}


def launch(request: LaunchRequest) -> Launch:
    """The simulated agent with its settings as one argument."""
    if request.solution is None:
        raise Fault("other", "the stand-in harness needs the task's solution/")
    agent = Bind(Path(__file__).with_name("agent.py"), f"{RUN}/stand-in/agent.py")
    solution = Bind(request.solution, f"{RUN}/stand-in/solution")
    settings = {**DEFAULTS, **request.options, "seed": request.seed, "model": request.model["id"]}
    argv = ("python3", "-I", request.shown(agent), request.shown(solution), request.toolset, json.dumps(settings))
    return Launch(argv=argv, binds=(agent, solution), is_final_event=is_final_event)


def is_final_event(line: bytes) -> bool:
    """Is this stdout line the closing one?"""
    return line.startswith(b'{"type": "result"')


def probe_version(options: dict[str, Any]) -> str | None:
    """The simulation's own number."""
    return f"stand-in {PROTOCOL}"
