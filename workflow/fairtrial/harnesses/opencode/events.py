"""Reads `opencode run --format json` (recorded with 1.18.33). It names no model; its last step is the end."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fairtrial.contracts.lean import field, lean
from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire import ending, failure, get, jsonl, tokens
from fairtrial.wire.record import Record, finish

PARSER = 1
Json = dict[str, Any]

_GOING_ON = frozenset({"tool-calls", "tool_calls", "unknown", ""})  # step reasons after which another step follows
_OWN_FAULT = frozenset({"ContextOverflowError", "MessageOutputLengthError", "MessageAbortedError"})


@lean
class _Stream:
    record: Record
    usage: list[tokens.Tokens] = field(default_factory=list)
    costs: list[float | None] = field(default_factory=list)
    open: bool = False  # a step began and did not finish
    reason: str = ""


def read(streams: Streams) -> Json:
    """Raw bytes to the events record. Never raises."""
    lines = jsonl.read(streams.stdout, streams.times_ns)
    stream = _Stream(Record("opencode", PARSER))
    stream.record.follow(lines, _HANDLERS, stream)
    sessions = (get.text(line.value, "sessionID") for line in lines.objects)
    stream.record.fields["session_id"] = next(filter(None, sessions), None)
    _close(stream)
    return stream.record.done(streams.stderr)


def classify(events: Json, report: ProcessReport) -> Ending | FaultFound:
    """The ending, by the shared table."""
    return ending.classify(events, report)


def _step_start(stream: _Stream, line: jsonl.Line) -> None:
    stream.open = True


def _text(stream: _Stream, line: jsonl.Line) -> None:
    said = get.text(line.value, "part", "text") or ""
    if said:
        stream.record.model_event()
        stream.record.say("assistant", said, line.at_ns)
        stream.record.fields["final_text"] = said


def _reasoning(stream: _Stream, line: jsonl.Line) -> None:
    stream.record.model_event()


def _tool_use(stream: _Stream, line: jsonl.Line) -> None:
    part = get.mapping(line.value, "part")
    state = get.mapping(part, "state")
    stream.record.model_event()
    call = stream.record.call(
        get.text(part, "callID"),
        get.text(part, "tool") or "unknown",
        state.get("input"),
        started_ns=_moment(line, get.count(state, "time", "start")),
    )
    status = get.text(state, "status")
    if status in ("completed", "error"):
        code = get.number(state, "metadata", "exit")
        finish(
            call,
            get.text(state, "output") if status == "completed" else get.text(state, "error"),
            is_error=status == "error",
            exit_status=code if isinstance(code, int) else None,
            at_ns=_moment(line, get.count(state, "time", "end")),
        )


def _moment(line: jsonl.Line, stamp_ms: int | None) -> int | None:
    """A time of the program's own clock, as the receipt time less how long before this line it was."""
    now = get.count(line.value, "timestamp")
    if line.at_ns is None or stamp_ms is None or now is None:
        return line.at_ns
    return max(0, line.at_ns - max(0, now - stamp_ms) * 1_000_000)


def _step_finish(stream: _Stream, line: jsonl.Line) -> None:
    part = get.mapping(line.value, "part")
    said, reasoning = get.count(part, "tokens", "output"), get.count(part, "tokens", "reasoning")
    usage = tokens.exclusive(  # its output leaves reasoning out (O08)
        get.count(part, "tokens", "input"),
        get.count(part, "tokens", "cache", "read"),
        get.count(part, "tokens", "cache", "write"),
        tokens.plus(said, reasoning),
        reasoning,
    )
    cost = get.dollars(part, "cost")
    stream.usage.append(usage)
    stream.costs.append(cost)
    stream.open, stream.reason = False, get.text(part, "reason") or ""
    if tokens.anything(usage):
        stream.record.model_event()
    stream.record.request(usage, cost or None, line.at_ns)


def _error(stream: _Stream, line: jsonl.Line) -> None:
    error = line.value.get("error")
    name = get.text(error, "name") or "error"
    message = get.text(error, "data", "message") or get.text(error, "message") or json.dumps(error)
    status = get.count(error, "data", "statusCode")
    kind = failure.kind_of(status, f"{message} {get.text(error, 'data', 'responseBody') or ''}")
    stream.record.terminal = True
    stream.record.fail(
        f"{name}: {message}", status=status, at_ns=line.at_ns, kind="model" if name in _OWN_FAULT else kind
    )


def _close(stream: _Stream) -> None:
    record = stream.record
    record.fields["tokens"] = tokens.total(stream.usage)
    record.fields["turns"] = len(stream.usage) or None
    total = sum(c for c in stream.costs if c is not None)
    # It reports 0 when it knows no price: with tokens used that is not a cost.
    record.cost(total or None)
    if record.fields["stop"] == "none" and stream.usage and not stream.open and stream.reason not in _GOING_ON:
        record.terminal = True
        record.fields["stop"] = "completed"


_HANDLERS: dict[str, Callable[[_Stream, jsonl.Line], None]] = {
    "step_start": _step_start,
    "text": _text,
    "reasoning": _reasoning,
    "tool_use": _tool_use,
    "step_finish": _step_finish,
    "error": _error,
}
