"""Bytes of tool results the model saw."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = "Bytes of tool results the model saw. After whatever the agent program cut away."


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    calls = seen.calls()
    if calls is None:
        return None
    known = [call["output_bytes"] for call in calls if call["output_bytes"] is not None]
    return sum(known) if known or not calls else None
