"""Starts `true`."""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Launch, LaunchRequest, Network

PROTOCOL = 1
SIMULATED = False
FREE = True
NEEDS_SOLUTION = False
CAPS: frozenset[str] = frozenset()
NETWORK: Network = "none"
OPTIONS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


def launch(request: LaunchRequest) -> Launch:
    """A program that ends at once."""
    return Launch(argv=("true",))


def probe_version(options: dict[str, Any]) -> str | None:
    """It has no version."""
    return None
