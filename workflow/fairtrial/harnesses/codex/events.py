"""Reads `codex exec --json` (recorded with 0.169.0). Its events name no model, no time and no cost."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fairtrial.contracts.lean import lean
from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire import ending, failure, get, jsonl, tokens, tools
from fairtrial.wire.record import Record, finish

PARSER = 1
Json = dict[str, Any]

_STATUS = re.compile(r"(?:unexpected status|last status:) (\d{3})")
_BUSY = re.compile(r"high demand|temporary errors|at capacity", re.IGNORECASE)  # its text for a 5xx
_REFUSED = re.compile(rb"ERROR (codex_core::tools[^\n]{0,500})")  # a tool call that failed leaves no event, only this
_TALK = frozenset({"agent_message", "reasoning", "error", "todo_list"})  # items that are no tool calls


@lean
class _Stream:
    record: Record
    failed: str | None = None  # message of turn.failed
    notice: str | None = None  # the last top-level error, while nothing followed it


def read(streams: Streams) -> Json:
    """Raw bytes to the events record. Never raises."""
    lines = jsonl.read(streams.stdout, streams.times_ns)
    stream = _Stream(Record("codex", PARSER))
    stream.record.follow(lines, _HANDLERS, stream)
    return _closed(stream, streams.stderr)


def classify(events: Json, report: ProcessReport) -> Ending | FaultFound:
    """The ending, by the shared table."""
    return ending.classify(events, report)


def _thread(stream: _Stream, line: jsonl.Line) -> None:
    stream.record.fields["session_id"] = get.text(line.value, "thread_id")


def _turn(stream: _Stream, line: jsonl.Line) -> None:
    """Printed before the model is asked: it proves nothing."""


def _item(stream: _Stream, line: jsonl.Line) -> None:
    item = get.mapping(line.value, "item")
    kind = get.text(item, "type") or "unknown"
    if kind == "error":
        stream.record.warnings.append((get.text(item, "message") or "error")[:2000])
        return
    stream.notice = None
    stream.record.model_event()
    if kind == "agent_message" and line.value.get("type") == "item.completed":
        said = get.text(item, "text") or ""
        stream.record.say("assistant", said, line.at_ns)
        stream.record.fields["final_text"] = said
    elif kind not in _TALK:
        _tool(stream.record, item, kind, line)


def _tool(record: Record, item: Json, kind: str, line: jsonl.Line) -> None:
    command = get.text(item, "command")
    arguments = {k: v for k, v in item.items() if k not in ("id", "type", "status", "aggregated_output", "exit_code")}
    arguments = {k: v for k, v in arguments.items() if k not in ("result", "error")}
    name = "file_change" if kind == "file_change" else get.text(item, "tool") or kind
    call = record.call(
        get.text(item, "id"),
        kind if tools.kind(kind) != "other" else name,
        arguments,
        command=None if command is None else tools.unwrapped(command),
        started_ns=line.at_ns,
    )
    if line.value.get("type") == "item.completed":
        output = get.text(item, "aggregated_output")
        status = get.number(item, "exit_code")
        failed = get.text(item, "status") in ("failed", "declined")
        code = int(status) if isinstance(status, int) else None
        finish(call, output, is_error=failed, exit_status=code, at_ns=line.at_ns)


def _error(stream: _Stream, line: jsonl.Line) -> None:
    message = get.text(line.value, "message") or "error"
    stream.notice = message
    stream.record.warnings.append(message[:2000])
    stream.record.errors.append(_entry(message, fatal=False, at_ns=line.at_ns))


def _completed(stream: _Stream, line: jsonl.Line) -> None:
    # A resumed thread restates its whole total, so the last one stands and nothing is added up (O04).
    usage = line.value.get("usage")
    stream.record.fields["tokens"] = tokens.inclusive(
        get.count(usage, "input_tokens"),
        get.count(usage, "cached_input_tokens"),
        get.count(usage, "cache_write_input_tokens"),
        get.count(usage, "output_tokens"),
        get.count(usage, "reasoning_output_tokens"),
    )
    if tokens.anything(stream.record.fields["tokens"]):
        stream.record.model_event()
    stream.record.terminal, stream.failed, stream.notice = True, None, None
    stream.record.fields["stop"] = "completed"


def _failed(stream: _Stream, line: jsonl.Line) -> None:
    stream.record.terminal = True
    stream.failed = get.text(line.value, "error", "message") or stream.notice or "turn.failed"


def _entry(message: str, *, fatal: bool, at_ns: int | None = None) -> Json:
    found = _STATUS.search(message)
    kind = "server_error" if _BUSY.search(message) else None
    return failure.error(message, status=int(found.group(1)) if found else None, fatal=fatal, at_ns=at_ns, kind=kind)


def _closed(stream: _Stream, stderr: bytes) -> Json:
    record = stream.record
    record.warnings += [m.decode("utf-8", "replace") for m in _REFUSED.findall(stderr)[:100]]
    message = stream.failed or stream.notice
    if message is not None:
        entry = _entry(message, fatal=True)
        record.fail(message, status=entry["status"], kind=entry["kind"])
        if stream.failed is None:  # it stopped in the middle of its retries
            record.fields["stop"] = "none" if record.fields["stop"] == "error" else record.fields["stop"]
    return record.done(stderr)


_HANDLERS: dict[str, Callable[[_Stream, jsonl.Line], None]] = {
    "thread.started": _thread,
    "turn.started": _turn,
    "item.started": _item,
    "item.updated": _item,
    "item.completed": _item,
    "error": _error,
    "turn.completed": _completed,
    "turn.failed": _failed,
}
