"""The event stream of Claude Code (`--output-format stream-json`), which qwen-code prints too, with other habits.

One message is written once per content block, with the same `message.id` and repeated usage: usage counts once per
id, the last line of an id wins, and the result event, when there is one, restates it all (O03).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from fairtrial.contracts.lean import field, lean
from fairtrial.contracts.protocols import Streams
from fairtrial.wire import claude_result, get, jsonl, tokens
from fairtrial.wire.record import Record, texts

Json = dict[str, Any]
SYNTHETIC = "<synthetic>"  # the program's own text, not a model's
_EXIT = re.compile(r"\A(?:Error: )?Exit code (\d+)\b|^Exit Code: (\d+)$", re.MULTILINE)


@lean(frozen=True)
class Dialect:
    """Where the two programs differ."""

    adapter: str
    parser: int
    version_key: str
    usage: Callable[[Any], tokens.Tokens]
    silent_exit_is_zero: bool  # a shell result without an exit code means 0
    final_output: bool  # an assistant line's output count is final
    error_text: re.Pattern[str] | None = None  # text of an assistant message that is an API failure


@lean
class _Stream:
    record: Record
    dialect: Dialect
    usage: dict[str, tokens.Tokens] = field(default_factory=dict)
    times: dict[str, int | None] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    model: str | None = None
    ended: str | None = None  # the kind of the last error line, while nothing followed it
    result: Json | None = None
    api_error: str | None = None


def read(streams: Streams, dialect: Dialect) -> Record:
    """Everything the stream says, in a record that the adapter finishes."""
    lines = jsonl.read(streams.stdout, streams.times_ns)
    stream = _Stream(Record(dialect.adapter, dialect.parser), dialect)
    stream.record.follow(lines, _HANDLERS, stream)
    _close(stream)
    return stream.record


def _system(stream: _Stream, line: jsonl.Line) -> None:
    value, record = line.value, stream.record
    subtype = get.text(value, "subtype") or ""
    if subtype == "init":
        record.fields["session_id"] = get.text(value, "session_id")
        record.fields["cli_version"] = get.text(value, stream.dialect.version_key)
    elif subtype == "api_retry":
        status = get.count(value, "error_status")
        attempt = f"{get.count(value, 'attempt')}/{get.count(value, 'max_retries')}"
        message = f"api_retry {attempt}: {status if status is not None else 'no answer'} {get.text(value, 'error')}"
        record.retried(message, status=status, at_ns=line.at_ns)
    else:
        record.unknown[f"system/{subtype}"] += 1


def _assistant(stream: _Stream, line: jsonl.Line) -> None:
    message = get.mapping(line.value, "message")
    said = texts([p for p in get.items(message, "content") if get.text(p, "type") == "text"])
    pattern = stream.dialect.error_text
    if get.text(message, "model") == SYNTHETIC or (pattern and pattern.search(said)):
        stream.api_error = said
        return
    stream.api_error = None
    key = get.text(message, "id") or f"line {line.number}"
    if key not in stream.usage:
        stream.record.model_event()
    stream.usage[key] = stream.dialect.usage(message.get("usage"))
    stream.times[key] = line.at_ns
    stream.model = get.text(message, "model") or stream.model
    if said:
        stream.record.say("assistant", said, line.at_ns)
    for part in get.items(message, "content"):
        if get.text(part, "type") == "tool_use":
            name = get.text(part, "name") or "unknown"
            stream.record.call(get.text(part, "id"), name, get.at(part, "input"), started_ns=line.at_ns)


def _user(stream: _Stream, line: jsonl.Line) -> None:
    content = get.at(line.value, "message", "content")
    if isinstance(content, str):
        stream.record.say("user", content, line.at_ns)
    for part in content if isinstance(content, list) else []:
        if get.text(part, "type") == "tool_result":
            _tool_result(stream, line, part)
        elif (said := get.text(part, "text")) is not None:
            stream.record.say("user", said, line.at_ns)


def _tool_result(stream: _Stream, line: jsonl.Line, part: Json) -> None:
    key = get.text(part, "tool_use_id")
    output = texts(part.get("content"))
    call = stream.record.calls.get(key or "")
    failed = get.flag(part, "is_error") or False
    status: int | None = None
    if call is not None and call["kind"] == "shell":
        found = _EXIT.search(output)
        if found:
            status = int((found.group(1) or found.group(2))[:9])
        elif stream.dialect.silent_exit_is_zero and not failed:
            status = 0
    stream.record.result(key, output, is_error=failed, exit_status=status, at_ns=line.at_ns)


def _result(stream: _Stream, line: jsonl.Line) -> None:
    stream.record.terminal = True
    stream.result = line.value


def _ignored(stream: _Stream, line: jsonl.Line) -> None:
    """Known, and nothing in it that is not said elsewhere."""


_HANDLERS: dict[str, Callable[[_Stream, jsonl.Line], None]] = {
    "system": _system,
    "assistant": _assistant,
    "user": _user,
    "result": _result,
    "stream_event": _ignored,
    "rate_limit_event": _ignored,
}


def _close(stream: _Stream) -> None:
    record, fields = stream.record, stream.record.fields
    for key, usage in stream.usage.items():
        shown = usage if stream.dialect.final_output else {**usage, "output": None, "reasoning": None}
        record.request(shown, at_ns=stream.times[key])
    fields["tokens"] = tokens.total(stream.usage.values())
    fields["turns"] = len(stream.usage) or None
    fields["model_observed"] = stream.model
    answers = [m["text"] for m in record.messages if m["role"] == "assistant"]
    fields["final_text"] = answers[-1] if answers else None
    if stream.result is not None:
        _take_result(stream, stream.result)
    elif stream.api_error is not None:
        record.fail(stream.api_error)
        fields["stop"] = "none"


def _take_result(stream: _Stream, result: Json) -> None:
    record, fields = stream.record, stream.record.fields
    said = claude_result.read_result(result)
    if stream.dialect.usage is not claude_result.usage_tokens:
        said["tokens"] = stream.dialect.usage(result.get("usage"))
    for name in ("tokens", "api_seconds", "stop", "turns", "final_text", "session_id", "model_observed"):
        empty = said[name] is None or (name == "tokens" and not any(v is not None for v in said[name].values()))
        if not empty:
            fields[name] = said[name]
    record.cost(said["cost_usd"])
    if said["cost_usd"] and claude_result.price_may_be_invented(result):
        record.warnings.append("the cost may rest on an invented price: the model is not one the program knows")
    fields["model_events"] = max(fields["model_events"], said["model_events"])
    record.errors += said["errors"]
    if said["stop"] == "completed" and stream.api_error is not None:
        record.fail(stream.api_error)
