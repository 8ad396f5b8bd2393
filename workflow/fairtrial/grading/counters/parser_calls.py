"""Pipelines in shell calls that hand version-control output to a program that takes text apart."""

from __future__ import annotations

from fairtrial.grading.seen import Seen
from fairtrial.grading.shell import pipelines, program

CAPTION = (
    "Pipelines in shell calls that hand version-control output to a program that takes text apart. "
    "Heuristic: by the names in the text; a program in a script is not seen."
)
PARSERS = frozenset({
    "awk", "gawk", "cut", "grep", "egrep", "rg", "jq", "node", "perl", "python", "python3", "ruby", "sed", "tr",
    "xargs",
})  # fmt: skip


def count(seen: Seen) -> int | None:
    """What CAPTION says; None when it was not captured."""
    calls = seen.shell_calls()
    if calls is None:
        return None
    return sum(_parses(pipeline, seen) for call in calls for pipeline in pipelines(call["command"]))


def _parses(pipeline: list[list[str]], seen: Seen) -> bool:
    names = [program(stage) for stage in pipeline]
    sources = [n for n, name in enumerate(names) if name in seen.classes.reads]
    return bool(sources) and any(name in PARSERS for name in names[sources[0] + 1 :])
