"""Bytes the agent's version-control commands printed."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = (
    "Bytes the agent's version-control commands printed. Before any pipe or cut; output to a device such "
    "as /dev/null is not counted."
)


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    lines = seen.vc_lines()
    if lines is None:
        return None
    known = [n for line in lines for n in (line["stdout_bytes"], line["stderr_bytes"]) if n is not None]
    return sum(known) if known or not lines else None
