"""Tool calls the stream marks as failed, or whose command ended with a status other than zero."""

from __future__ import annotations

from fairtrial.grading.seen import Seen, failed

CAPTION = (
    "Tool calls the stream marks as failed, or whose command ended with a status other than zero. Agent "
    "programs differ in what they mark."
)


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    calls = seen.calls()
    if calls is None or (calls and all(c["is_error"] is None and c["exit_status"] is None for c in calls)):
        return None
    return sum(failed(call) for call in calls)
