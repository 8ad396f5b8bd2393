"""Seconds the agent went on after the tree was first green."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = (
    "Seconds the agent went on after the tree was first green. By replay; null when it never was. Heuristic: "
    "the agent may have tidied up."
)


def count(seen: Seen) -> float | None:
    """What CAPTION says; None when it was not captured."""
    found: float | None = (seen.first_green or {}).get("seconds_after")
    return found
