"""Reading version-control commands that repeat the tool call just before."""

from __future__ import annotations

from fairtrial.contracts.protocols import Json
from fairtrial.grading.seen import Seen
from fairtrial.grading.shell import standalone

CAPTION = (
    "Reading version-control commands that repeat the tool call just before. Only consecutive, "
    "standalone, unquoted commands with identical arguments and folder; any other tool call in between "
    "resets."
)
FOLDERS = ("cwd", "workdir", "working_directory", "directory")


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    calls = seen.calls()
    if calls is None:
        return None
    total, before = 0, None
    for call in calls:
        key = _key(call, seen)
        total += key is not None and key == before
        before = key
    return total


def _key(call: Json, seen: Seen) -> tuple[object, ...] | None:
    words = standalone(call["command"] or "") if call["kind"] == "shell" else None
    if not words or seen.classes.kind({"command": words[0], "argv": words}) != "read":
        return None
    given = call["arguments"] if isinstance(call["arguments"], dict) else {}
    return (*words, next((str(given[name]) for name in FOLDERS if given.get(name)), ""))
