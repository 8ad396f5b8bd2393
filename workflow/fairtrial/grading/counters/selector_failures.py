"""Version-control commands of the agent that failed because a revision, branch or file they named is not there."""

from __future__ import annotations

from collections.abc import Sequence

from fairtrial.grading.seen import Seen

CAPTION = (
    "Version-control commands of the agent that failed because a revision, branch or file they named is "
    "not there. By the captured error text, not by the arguments."
)


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    lines = seen.vc_lines()
    if lines is None:
        return None
    failing = [line for line in lines if line["exit_status"]]
    said = [(line["command"], text) for line in failing if (text := seen.output(line)) is not None]
    if failing and not said:
        return None
    return sum(_names_nothing(text, seen.classes.selector_errors[program]) for program, text in said)


def _names_nothing(text: bytes, pieces: Sequence[str]) -> bool:
    lower = text.decode("utf-8", "replace").lower()
    return any(piece in lower for piece in pieces)
