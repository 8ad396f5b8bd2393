"""Version-control commands of the agent that ended with a status other than zero."""

from __future__ import annotations

from fairtrial.grading.seen import Seen

CAPTION = (
    "Version-control commands of the agent that ended with a status other than zero. Probes that were "
    "expected to fail (is this a repository, does this branch exist) are in it; ends by a closed pipe are "
    "not."
)


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    lines = seen.vc_lines()
    return None if lines is None else sum(bool(line["exit_status"]) for line in lines)
