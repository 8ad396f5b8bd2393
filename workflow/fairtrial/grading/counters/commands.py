"""Traced commands of all buckets."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = "Traced commands of all buckets. Only of the programs that are traced."


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    return None if seen.trace is None else len(seen.buckets)
