"""Files that differ between start and end."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = "Files that differ between start and end. Of the whole workspace, version-control folders left out."


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    found: int | None = seen.patch().get("files_changed")
    return found
