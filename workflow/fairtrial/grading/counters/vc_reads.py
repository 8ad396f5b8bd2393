"""Version-control commands of the agent that only read."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = (
    "Version-control commands of the agent that only read. By subcommand; what a command ran itself and "
    "the agent program's own probes are not in it."
)


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    lines = seen.vc_lines()
    return None if lines is None else sum(seen.classes.kind(line) == "read" for line in lines)
