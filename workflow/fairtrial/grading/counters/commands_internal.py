"""Traced commands that another traced command started."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = "Traced commands that another traced command started. By the nearest traced ancestor."


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    return None if seen.trace is None else sum(bucket == "tool_internal" for bucket in seen.buckets.values())
