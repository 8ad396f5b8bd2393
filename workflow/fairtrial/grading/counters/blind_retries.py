"""Shell calls that repeat a failing command word for word as the very next tool call."""

from __future__ import annotations

from itertools import pairwise

from fairtrial.contracts.protocols import Json
from fairtrial.grading.seen import Seen, ends_known, failed

CAPTION = (
    "Shell calls that repeat a failing command word for word as the very next tool call. Heuristic: a "
    "retry can be reasonable."
)


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    calls = seen.calls()
    if calls is None or not ends_known(calls):
        return None
    return sum(_blind(before, call) for before, call in pairwise(calls))


def _blind(before: Json, call: Json) -> bool:
    same = before["kind"] == call["kind"] == "shell" and before["command"] == call["command"]
    return bool(same and call["command"] and failed(before))
