"""Anthropic Messages: POST /v1/messages."""

from __future__ import annotations

import json

from fairtrial.instruments.endpoint.sse import event
from fairtrial.instruments.endpoint.turn import Answer, Asked, Json, Said, listed, mapping, number, tools_of

NAME = "anthropic"
HOST = "https://api.anthropic.com"
_KINDS = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error",
          529: "overloaded_error"}  # fmt: skip
_FIELDS = {
    "input_uncached": "input_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
    "output": "output_tokens",
}


def asked(path: str, body: Json) -> Asked:
    """Tools and tool_use blocks."""
    blocks = (b for m in listed(body.get("messages")) for b in listed(mapping(m).get("content")))
    calls = sum(1 for b in blocks if mapping(b).get("type") == "tool_use")
    tools = tools_of(listed(body.get("tools")), "input_schema")
    return Asked(body.get("model"), body.get("stream") is True, tools, calls)


def said(objects: list[Json]) -> Said:
    """The last value of each count: message_delta repeats those of message_start with the final ones."""
    found, calls = Said(), 0
    for one in objects:
        message = mapping(one.get("message")) if one.get("type") == "message_start" else one
        if message.get("type") == "message":
            found.model = message.get("model") or found.model
            calls += sum(1 for b in listed(message.get("content")) if mapping(b).get("type") == "tool_use")
        usage = mapping(message.get("usage"))
        for category, name in _FIELDS.items():
            if (count := number(usage.get(name))) is not None:
                found.tokens[category] = count
        if one.get("type") == "content_block_start":
            calls += mapping(one.get("content_block")).get("type") == "tool_use"
    found.tool_calls = calls if objects else None
    return found


def _message(answer: Answer, content: list[Json], stop: str | None) -> Json:
    return {
        "id": answer.id("msg_"),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {name: answer.tokens[category] for category, name in _FIELDS.items()},
    }


def _block(answer: Answer) -> Json:
    move = answer.move
    if move.tool is None:
        return {"type": "text", "text": move.text}
    return {"type": "tool_use", "id": answer.id("toolu_"), "name": move.tool, "input": move.arguments}


def _stop(answer: Answer) -> str:
    return "end_turn" if answer.move.tool is None else "tool_use"


def whole(answer: Answer) -> Json:
    """A message."""
    return _message(answer, [_block(answer)], _stop(answer))


def events(answer: Answer) -> list[bytes]:
    """message_start to message_stop, one content block between."""
    block = _block(answer)
    start = _message(answer, [], None)
    start["usage"] = {**start["usage"], "output_tokens": 1}
    if block["type"] == "text":
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    said_at_end = {"stop_reason": _stop(answer), "stop_sequence": None}
    parts: list[Json] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": said_at_end, "usage": whole(answer)["usage"]},
        {"type": "message_stop"},
    ]
    return [event(part, part["type"]) for part in parts]


def refusal(status: int, message: str) -> Json:
    """{"type": "error", ...}"""
    kind = _KINDS.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def count(tokens: int) -> Json:
    """The answer of count_tokens."""
    return {"input_tokens": tokens}
