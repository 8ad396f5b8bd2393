"""Nothing to read: the noop harness has no transcript."""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire import quiet

PARSER = 1


def read(streams: Streams) -> dict[str, Any]:
    """An events record in which everything is null."""
    return quiet.read("noop", PARSER, streams)


def classify(events: dict[str, Any], report: ProcessReport) -> Ending | FaultFound:
    """By the clock and the exit status."""
    return quiet.classify(report)
