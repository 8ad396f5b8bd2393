"""Reads Claude Code's stream-json output (recorded with 2.1.197 and 2.1.332)."""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire import claude_result, claude_stream, ending

PARSER = 1

_DIALECT = claude_stream.Dialect(
    adapter="claude",
    parser=PARSER,
    version_key="claude_code_version",
    usage=claude_result.usage_tokens,
    silent_exit_is_zero=True,
    final_output=False,
)


def read(streams: Streams) -> dict[str, Any]:
    """Raw bytes to the events record. Never raises."""
    return claude_stream.read(streams, _DIALECT).done(streams.stderr)


def classify(events: dict[str, Any], report: ProcessReport) -> Ending | FaultFound:
    """The ending, by the shared table; an API failure that calls itself success is an error of the record."""
    return ending.classify(events, report)
