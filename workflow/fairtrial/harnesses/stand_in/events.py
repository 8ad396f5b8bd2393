"""Reads what the simulated agent prints."""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire import ending, jsonl, tokens
from fairtrial.wire.record import Record

PARSER = 1
Json = dict[str, Any]


def read(streams: Streams) -> Json:
    """One pass over the lines; anything malformed or unknown is counted."""
    record = Record("stand-in", PARSER)
    lines = jsonl.read(streams.stdout, streams.times_ns)
    record.opened(lines)
    for line in lines.objects:
        _event(record, line.value, line.at_ns)
    return record.done(streams.stderr)


def _event(record: Record, value: Json, at_ns: int | None) -> None:
    kind = value.get("type")
    if kind == "tool_call":
        record.model_event()
        command = value.get("command")
        record.call(value.get("id"), str(value.get("name")), value.get("arguments"), command, started_ns=at_ns)
    elif kind == "tool_result":
        status = value.get("exit_status")
        record.result(value.get("id"), str(value.get("output")), is_error=bool(status), exit_status=status, at_ns=at_ns)
    elif kind == "start":
        record.fields["model_observed"] = value.get("model")
    elif kind == "error":
        record.fail(str(value.get("message")), status=value.get("status"), at_ns=at_ns)
    elif kind == "result":
        _result(record, value)
    else:
        record.unknown[str(kind)] += 1


def _result(record: Record, value: Json) -> None:
    record.terminal = True
    record.model_event()
    usage = value.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    record.fields["turns"] = value.get("turns")
    record.fields["stop"] = "completed"
    record.cost(value.get("cost_usd"))
    record.fields["tokens"] = {
        **tokens.unknown(),
        "input_uncached": usage.get("input"),
        **{key: usage.get(key) for key in ("cache_read", "cache_write", "output", "reasoning")},
    }


def classify(events: Json, report: ProcessReport) -> Ending | FaultFound:
    """The shared table."""
    return ending.classify(events, report)
