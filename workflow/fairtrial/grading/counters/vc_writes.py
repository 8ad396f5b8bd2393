"""Version-control commands of the agent that change something."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = (
    "Version-control commands of the agent that change something. By subcommand, whether or not they "
    "succeeded; refused ones are not in it."
)


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    lines = seen.vc_lines()
    return None if lines is None else sum(seen.classes.kind(line) == "mutation" for line in lines)
