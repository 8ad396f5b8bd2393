"""Traced commands that the agent program started for itself."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = "Traced commands that the agent program started for itself. By the probe rule in docs/trace.md."


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    return None if seen.trace is None else sum(bucket == "platform" for bucket in seen.buckets.values())
