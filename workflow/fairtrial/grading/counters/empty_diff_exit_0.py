"""The program ended with status 0 and changed nothing."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = "The program ended with status 0 and changed nothing. Heuristic: right for some tasks."


def count(seen: Seen) -> bool | None:
    """What CAPTION says; None when it was not captured."""
    size = seen.patch().get("bytes")
    return None if size is None else size == 0 and seen.evidence["process"]["exit_status"] == 0
