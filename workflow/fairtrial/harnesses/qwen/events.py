"""Reads qwen-code's stream-json output (recorded with 0.15.10): Claude Code's schema, other conventions.

Its input counts include what the cache served. An API failure is the text of an assistant message, with a result
that calls itself success; at its turn cap it prints no result, only a line on standard error.
"""

from __future__ import annotations

import re
from typing import Any

from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire import claude_stream, ending, get, tokens

PARSER = 1

_TURN_CAP = re.compile(rb"^Reached max session turns", re.MULTILINE)


def _usage(usage: Any) -> tokens.Tokens:
    return tokens.inclusive(
        get.count(usage, "input_tokens"),
        get.count(usage, "cache_read_input_tokens"),
        get.count(usage, "cache_creation_input_tokens"),
        get.count(usage, "output_tokens"),
    )


_DIALECT = claude_stream.Dialect(
    adapter="qwen",
    parser=PARSER,
    version_key="qwen_code_version",
    usage=_usage,
    silent_exit_is_zero=False,
    final_output=True,
    error_text=re.compile(r"\A\[API Error: "),
)


def read(streams: Streams) -> dict[str, Any]:
    """Raw bytes to the events record. Never raises."""
    record = claude_stream.read(streams, _DIALECT)
    if not record.terminal and _TURN_CAP.search(streams.stderr):
        record.fields["stop"] = "turn_cap"
    return record.done(streams.stderr)


def classify(events: dict[str, Any], report: ProcessReport) -> Ending | FaultFound:
    """The ending, by the shared table."""
    return ending.classify(events, report)
