"""Tool calls the stream marks as failed, or whose command ended with a status other than zero."""

from __future__ import annotations

from fairtrial.grading.seen import Seen, ends_known, failed

CAPTION = (
    "Tool calls the stream marks as failed, or whose command ended with a status other than zero. Agent "
    "programs differ in what they mark."
)


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    calls = seen.calls()
    if calls is None or not ends_known(calls):
        return None
    return sum(failed(call) for call in calls)
