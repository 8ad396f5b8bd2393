"""Tool calls the model made."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = "Tool calls the model made. As the stream shows them; null where it does not."


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    calls = seen.calls()
    return None if calls is None else len(calls)
