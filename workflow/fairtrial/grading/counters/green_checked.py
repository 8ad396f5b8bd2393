"""The agent ran the visible green command."""

from __future__ import annotations

import shlex

from fairtrial.grading.seen import Seen
from fairtrial.grading.shell import squeeze

CAPTION = (
    "The agent ran the visible green command. Heuristic: its text stands in a shell call, or a traced "
    "command has its arguments; another way to the same tests is not seen."
)


def count(seen: Seen) -> bool | None:
    """What CAPTION says; None when it was not captured."""
    calls, lines = seen.shell_calls(), seen.task_lines()
    if not seen.check or (calls is None and lines is None):
        return None
    wanted = squeeze(seen.check)
    if any(wanted in squeeze(call["command"]) for call in calls or ()):
        return True
    try:
        words = shlex.split(seen.check)
    except ValueError:
        return None if calls is None else False
    if any(line["command"] == words[0] and line["argv"][1:] == words[1:] for line in lines or ()):
        return True
    return False if calls is not None or words[0] in seen.facts.get("commands", []) else None
