"""The effort section of result.json, and the parts of time_cost that come from the trace."""

from __future__ import annotations

from functools import cache
from types import ModuleType

from fairtrial import registry
from fairtrial.contracts.protocols import Json
from fairtrial.grading.seen import Seen

_COUNTERS = "fairtrial.grading.counters"


@cache
def counters() -> dict[str, ModuleType]:
    """Every counter by its key in schemas/result/effort.schema.json."""
    return {name: registry.load(_COUNTERS, name) for name in registry.names(_COUNTERS)}


def captions() -> dict[str, str]:
    """What each counter is, with its caveat, for reports."""
    return {name: counter.CAPTION for name, counter in counters().items()}


def effort(seen: Seen) -> Json:
    """Every counter; null where its source was not captured."""
    return {name: counter.count(seen) for name, counter in counters().items()}


def time_parts(seen: Seen) -> Json:
    """Seconds from the start of the attempt; null where no trace was captured or nothing of the kind happened.

    first_mutation: the end of the first version-control command that changes something and ended with zero, which
    is no proof of progress. vc_summed counts parallel commands twice, vc_occupied once.
    """
    task, lines = seen.task_lines(), seen.vc_lines()
    ended = [line for line in lines or () if line["ended_ns"] is not None]
    timed = lines is not None and (bool(ended) or not lines)
    changes = [line["ended_ns"] for line in ended if seen.classes.kind(line) == "mutation" and line["exit_status"] == 0]
    spans = [(line["started_ns"], line["ended_ns"]) for line in ended]
    found = {
        "first_command_seconds": min((line["started_ns"] for line in task or ()), default=None),
        "first_mutation_seconds": min(changes, default=None),
        "vc_summed_seconds": sum(end - start for start, end in spans) if timed else None,
        "vc_occupied_seconds": occupied(spans) if timed else None,
    }
    return {name: None if ns is None else ns / 1e9 for name, ns in found.items()}


def occupied(spans: list[tuple[int, int]]) -> int:
    """Length of the union of intervals; the unit is that of the intervals."""
    total, reach = 0, None
    for start, end in sorted(spans):
        begin = start if reach is None else max(start, reach)
        total += max(end - begin, 0)
        reach = end if reach is None else max(reach, end)
    return total
