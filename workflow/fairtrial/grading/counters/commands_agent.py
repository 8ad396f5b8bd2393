"""Traced commands that the agent itself started."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = "Traced commands that the agent itself started. An unclear case counts as the agent's."


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    return None if seen.trace is None else sum(bucket == "task" for bucket in seen.buckets.values())
