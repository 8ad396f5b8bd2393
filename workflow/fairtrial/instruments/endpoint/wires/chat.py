"""OpenAI chat completions: POST /v1/chat/completions."""

from __future__ import annotations

import json

from fairtrial.instruments.endpoint.sse import event
from fairtrial.instruments.endpoint.turn import Answer, Asked, Json, Said, listed, mapping, number, tools_of
from fairtrial.instruments.endpoint.wires.openai_errors import count, refusal

__all__ = ["HOST", "NAME", "asked", "count", "events", "refusal", "said", "whole"]
NAME = "openai-chat"
HOST = "https://api.openai.com"
_CREATED = 1_700_000_000


def asked(path: str, body: Json) -> Asked:
    """Tools and tool_calls."""
    messages = [mapping(m) for m in listed(body.get("messages"))]
    calls = sum(len(listed(m.get("tool_calls"))) for m in messages)
    offered = (mapping(t).get("function") for t in listed(body.get("tools")))
    return Asked(body.get("model"), body.get("stream") is True, tools_of(offered, "parameters"), calls)


def said(objects: list[Json]) -> Said:
    """prompt_tokens count the cached ones in; `cost` is named by some routers."""
    found = Said()
    calls: set[tuple[int, int]] = set()
    for one in objects:
        found.model = one.get("model") or found.model
        for choice in map(mapping, listed(one.get("choices"))):
            part = mapping(choice.get("delta")) or mapping(choice.get("message"))
            for place, call in enumerate(listed(part.get("tool_calls"))):
                calls.add((number(choice.get("index")) or 0, number(mapping(call).get("index", place)) or 0))
        if usage := mapping(one.get("usage")):
            _count(found, usage)
    found.tool_calls = len(calls) if objects else None
    return found


def _count(found: Said, usage: Json) -> None:
    prompt, details = number(usage.get("prompt_tokens")), mapping(usage.get("prompt_tokens_details"))
    read, write = number(details.get("cached_tokens")), number(details.get("cache_write_tokens"))
    reasoning = mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")
    found.tokens = {
        "input_uncached": None if prompt is None else max(0, prompt - (read or 0) - (write or 0)),
        "cache_read": read,
        "cache_write": write,
        "output": number(usage.get("completion_tokens")),
        "reasoning": number(reasoning),
    }
    cost = usage.get("cost")
    found.cost_usd = float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _usage(answer: Answer) -> Json:
    tokens = answer.tokens
    return {
        "prompt_tokens": answer.all_input,
        "completion_tokens": tokens["output"],
        "total_tokens": answer.all_input + tokens["output"],
        "prompt_tokens_details": {"cached_tokens": tokens["cache_read"]},
        "completion_tokens_details": {"reasoning_tokens": tokens["reasoning"]},
    }


def _message(answer: Answer) -> Json:
    move = answer.move
    if move.tool is None:
        return {"role": "assistant", "content": move.text}
    function = {"name": move.tool, "arguments": json.dumps(move.arguments)}
    call = {"id": answer.id("call_"), "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _envelope(answer: Answer, kind: str, choices: list[Json]) -> Json:
    return {
        "id": answer.id("chatcmpl-"),
        "object": kind,
        "created": _CREATED,
        "model": answer.model,
        "choices": choices,
    }


def _finish(answer: Answer) -> str:
    return "stop" if answer.move.tool is None else "tool_calls"


def whole(answer: Answer) -> Json:
    """A chat.completion."""
    choice = {"index": 0, "message": _message(answer), "finish_reason": _finish(answer)}
    return {**_envelope(answer, "chat.completion", [choice]), "usage": _usage(answer)}


def events(answer: Answer) -> list[bytes]:
    """Chunks: the message, the reason it ended, the usage, [DONE]."""
    delta = _message(answer)
    for place, call in enumerate(delta.get("tool_calls", [])):
        call["index"] = place
    parts = [
        [{"index": 0, "delta": delta, "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": _finish(answer)}],
    ]
    chunks = [event(_envelope(answer, "chat.completion.chunk", part)) for part in parts]
    last = event({**_envelope(answer, "chat.completion.chunk", []), "usage": _usage(answer)})
    return [*chunks, last, b"data: [DONE]\n\n"]
