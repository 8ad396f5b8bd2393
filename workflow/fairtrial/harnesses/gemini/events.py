"""Reads gemini-cli's `-o stream-json` (recorded with 0.61.0); retries and their status are on standard error only."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire import ending, failure, get, jsonl, tokens
from fairtrial.wire.record import Record

PARSER = 1
Json = dict[str, Any]

_RETRY = re.compile(rb"^Attempt (\d+) failed(?: with status (\d{3}))?\. Retrying[^\n]{0,400}", re.MULTILINE)
_CAP_ERRORS = {"FatalTurnLimitedError": "turn_cap"}


@lean
class _Stream:
    record: Record
    in_answer: bool = False  # the last line was a piece of an answer


def read(streams: Streams) -> Json:
    """Raw bytes to the events record. Never raises."""
    lines = jsonl.read(streams.stdout, streams.times_ns)
    stream = _Stream(Record("gemini", PARSER))
    stream.record.opened(lines)
    for found in _RETRY.finditer(streams.stderr):
        status = int(found.group(2)) if found.group(2) else None
        stream.record.retried(found.group(0).decode("utf-8", "replace"), status=status)
    for line in lines.objects:
        kind = line.value.get("type")
        handler = _HANDLERS.get(kind) if isinstance(kind, str) else None
        if handler is None:
            stream.record.unknown[str(kind)] += 1
        else:
            handler(stream, line)
            stream.in_answer = kind == "message" and get.text(line.value, "role") == "assistant"
    answers = [m["text"] for m in stream.record.messages if m["role"] == "assistant"]
    stream.record.fields["final_text"] = answers[-1] if answers else None
    return stream.record.done(streams.stderr)


def classify(events: Json, report: ProcessReport) -> Ending | FaultFound:
    """The ending, by the shared table."""
    return ending.classify(events, report)


def _init(stream: _Stream, line: jsonl.Line) -> None:
    stream.record.fields["session_id"] = get.text(line.value, "session_id")


def _message(stream: _Stream, line: jsonl.Line) -> None:
    record = stream.record
    said, role = get.text(line.value, "content") or "", get.text(line.value, "role")
    if role != "assistant":
        record.say("user", said, line.at_ns)
        return
    record.model_event()
    if stream.in_answer and record.messages and get.flag(line.value, "delta"):
        record.messages[-1]["text"] += said
    else:
        record.say("assistant", said, line.at_ns)


def _tool_use(stream: _Stream, line: jsonl.Line) -> None:
    stream.record.model_event()
    name = get.text(line.value, "tool_name") or "unknown"
    stream.record.call(get.text(line.value, "tool_id"), name, line.value.get("parameters"), started_ns=line.at_ns)


def _tool_result(stream: _Stream, line: jsonl.Line) -> None:
    output = get.text(line.value, "output")
    failed = get.text(line.value, "status") == "error"
    stream.record.result(get.text(line.value, "tool_id"), output, is_error=failed, at_ns=line.at_ns)


def _error(stream: _Stream, line: jsonl.Line) -> None:
    """A notice in the stream; whether it ends the work is said by the result."""
    stream.record.warnings.append((get.text(line.value, "message") or "error")[:2000])


def _result(stream: _Stream, line: jsonl.Line) -> None:
    record, stats = stream.record, get.mapping(line.value, "stats")
    record.terminal = True
    record.fields["tokens"] = tokens.inclusive(
        get.count(stats, "input_tokens"), get.count(stats, "cached"), None, get.count(stats, "output_tokens")
    )
    used = {n: get.count(m, "total_tokens") or 0 for n, m in get.mapping(stats, "models").items()}
    best = max(used, key=lambda name: used[name], default=None)
    if best is not None and used[best]:
        record.fields["model_observed"] = best
        record.model_event()
    if get.text(line.value, "status") == "success":
        record.fields["stop"] = "completed"
        return
    kind, message = get.text(line.value, "error", "type") or "", get.text(line.value, "error", "message") or "error"
    if kind in _CAP_ERRORS:
        record.fields["stop"] = _CAP_ERRORS[kind]
    else:
        last = record.errors[-1]["status"] if record.errors else None
        record.fail(message, at_ns=line.at_ns, kind=_kind(message, last))


def _kind(message: str, last_status: int | None) -> str:
    """By the error's own words; its advice below them names quotas and log-ins whatever went wrong."""
    kind = failure.kind_of(None, message.split("\n", 1)[0])
    return failure.kind_of(last_status, message) if kind == "other" and last_status else kind


_HANDLERS: dict[str, Callable[[_Stream, jsonl.Line], None]] = {
    "init": _init,
    "message": _message,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "error": _error,
    "result": _result,
}
