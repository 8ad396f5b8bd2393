"""Reading of programs that say nothing of a model: what the process did is all there is."""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire.record import Record

Json = dict[str, Any]


def read(adapter: str, parser: int, streams: Streams) -> Json:
    """An events record in which everything a transcript would say is null."""
    record = Record(adapter, parser)
    record.lines = streams.stdout.count(b"\n")
    made = record.done()
    return {**made, "tokens_lower_bound": False}


def classify(report: ProcessReport) -> Ending | FaultFound:
    """By the clock and the exit status alone."""
    if report.interrupted:
        return FaultFound("interrupted", "stopped from outside before it ended")
    if report.stopped_by is not None:
        return Ending("budget", report.stopped_by)
    if report.timed_out:
        return Ending("timeout", "wall clock")
    if report.signal is not None:
        return Ending("agent_error", f"signal {report.signal}")
    if report.exit_status == 0:
        return Ending("completed", "exit status 0")
    return Ending("agent_error", f"exit status {report.exit_status}")
