"""Reads `pi --mode json` (recorded with 0.74.2 and 0.73.1). `message_update` lines restate everything: not parsed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fairtrial.contracts.lean import field, lean
from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire import ending, get, jsonl, tokens
from fairtrial.wire.record import Record, texts

PARSER = 1
Json = dict[str, Any]

_UPDATES = (b'{"type":"message_update"', b'{"type":"tool_execution_update"')
_STATUS = re.compile(r"\A\D{0,20}(\d{3})\b")
_EXIT = re.compile(r"Command exited with code (\d{1,9})\s*\Z")


@lean
class _Stream:
    record: Record
    usage: list[tokens.Tokens] = field(default_factory=list)
    cost: float = 0.0
    failed: str | None = None  # the last answer was an error
    working: bool = True  # agent_start without its agent_end


def read(streams: Streams) -> Json:
    """Raw bytes to the events record. Never raises."""
    lines = jsonl.read(streams.stdout, streams.times_ns, drop=lambda raw: raw.startswith(_UPDATES))
    stream = _Stream(Record("pi", PARSER))
    stream.record.follow(lines, _HANDLERS, stream)
    _close(stream)
    return stream.record.done(streams.stderr)


def classify(events: Json, report: ProcessReport) -> Ending | FaultFound:
    """The ending, by the shared table: the exit status is 0 whatever happened."""
    return ending.classify(events, report)


def _session(stream: _Stream, line: jsonl.Line) -> None:
    stream.record.fields["session_id"] = get.text(line.value, "id")


def _known(stream: _Stream, line: jsonl.Line) -> None:
    """Restated by another event."""


def _agent_start(stream: _Stream, line: jsonl.Line) -> None:
    stream.working = True


def _agent_end(stream: _Stream, line: jsonl.Line) -> None:
    stream.working = False


def _message_end(stream: _Stream, line: jsonl.Line) -> None:
    message = get.mapping(line.value, "message")
    role = get.text(message, "role")
    if role == "user":
        stream.record.say("user", texts(message.get("content")), line.at_ns)
    elif role == "assistant":
        _answer(stream, line, message)


def _answer(stream: _Stream, line: jsonl.Line, message: Json) -> None:
    record = stream.record
    usage = tokens.exclusive(
        get.count(message, "usage", "input"),
        get.count(message, "usage", "cacheRead"),
        get.count(message, "usage", "cacheWrite"),
        get.count(message, "usage", "output"),
    )
    reason = get.text(message, "stopReason")
    stream.failed = (get.text(message, "errorMessage") or "error") if reason in ("error", "aborted") else None
    content = get.items(message, "content")
    if stream.failed is not None and not content and not tokens.anything(usage):
        return
    record.model_event()
    record.fields["model_observed"] = get.text(message, "model") or record.fields["model_observed"]
    cost = get.dollars(message, "usage", "cost", "total")
    stream.usage.append(usage)
    stream.cost += cost or 0.0
    record.request(usage, cost or None, line.at_ns)
    said = texts([p for p in content if get.text(p, "type") == "text"])
    record.say("assistant", said, line.at_ns)
    record.fields["final_text"] = said or record.fields["final_text"]
    for part in content:
        if get.text(part, "type") == "toolCall":
            record.call(get.text(part, "id"), get.text(part, "name") or "unknown", get.at(part, "arguments"))


def _tool_start(stream: _Stream, line: jsonl.Line) -> None:
    key, name = get.text(line.value, "toolCallId"), get.text(line.value, "toolName") or "unknown"
    call = stream.record.call(key, name, line.value.get("args"))
    call["started_ns"] = line.at_ns


def _tool_end(stream: _Stream, line: jsonl.Line) -> None:
    key = get.text(line.value, "toolCallId")
    output = texts(get.at(line.value, "result", "content"))
    failed = get.flag(line.value, "isError")
    call = stream.record.calls.get(key or "")
    status: int | None = None
    if call is not None and call["kind"] == "shell":
        found = _EXIT.search(output)
        status = int(found.group(1)) if found else 0 if failed is False else None
    stream.record.result(key, output, is_error=failed, exit_status=status, at_ns=line.at_ns)


def _retry(stream: _Stream, line: jsonl.Line) -> None:
    message = get.text(line.value, "errorMessage") or "retry"
    stream.record.retried(message, status=_status(message), at_ns=line.at_ns)
    stream.working = True


def _status(message: str) -> int | None:
    found = _STATUS.match(message)
    return int(found.group(1)) if found and 400 <= int(found.group(1)) < 600 else None


def _close(stream: _Stream) -> None:
    record = stream.record
    record.fields["tokens"] = tokens.total(stream.usage)
    record.fields["turns"] = len(stream.usage) or None
    record.cost(stream.cost or None)  # 0 when it knows no price
    record.terminal = not stream.working and record.lines > 0
    if stream.failed is not None:
        aborted = stream.failed.lower().startswith(("aborted", "request was aborted"))
        record.fail(stream.failed, status=_status(stream.failed), kind="model" if aborted else None)
    elif record.terminal:
        record.fields["stop"] = "completed"


_HANDLERS: dict[str, Callable[[_Stream, jsonl.Line], None]] = {
    "session": _session,
    "agent_start": _agent_start,
    "agent_end": _agent_end,
    "turn_start": _known,
    "turn_end": _known,
    "message_start": _known,
    "message_update": _known,
    "message_end": _message_end,
    "tool_execution_start": _tool_start,
    "tool_execution_update": _known,
    "tool_execution_end": _tool_end,
    "auto_retry_start": _retry,
    "auto_retry_end": _known,
    "compaction_start": _known,
    "compaction_end": _known,
}
