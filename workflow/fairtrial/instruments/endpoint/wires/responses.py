"""OpenAI Responses: POST /v1/responses."""

from __future__ import annotations

import json

from fairtrial.instruments.endpoint.sse import event
from fairtrial.instruments.endpoint.turn import Answer, Asked, Json, Said, listed, mapping, number, tools_of
from fairtrial.instruments.endpoint.wires.openai_errors import count, refusal

__all__ = ["HOST", "NAME", "asked", "count", "events", "refusal", "said", "whole"]
NAME = "openai-responses"
HOST = "https://api.openai.com"
_CREATED = 1_700_000_000
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call"})


def asked(path: str, body: Json) -> Asked:
    """Tools, also those that stand in the input, and calls."""
    items = [mapping(i) for i in listed(body.get("input"))]
    offered = list(listed(body.get("tools")))
    for item in items:
        if item.get("type") == "additional_tools":
            offered += listed(item.get("tools"))
    calls = sum(map(_is_call, items))
    return Asked(body.get("model"), body.get("stream") is True, tools_of(offered, "parameters"), calls)


def _is_call(item: object) -> bool:
    return str(mapping(item).get("type")) in _CALLS


def said(objects: list[Json]) -> Said:
    """The response object that comes last; input_tokens count the cached ones in."""
    found = Said()
    calls = 0
    for one in objects:
        response = mapping(one.get("response")) if "response" in one else one
        found.model = response.get("model") or found.model
        if one.get("type") == "response.output_item.done":
            calls += _is_call(one.get("item"))
        elif one.get("object") == "response":
            calls += sum(map(_is_call, listed(one.get("output"))))
        if usage := mapping(response.get("usage")):
            _count(found, usage)
    found.tool_calls = calls if objects else None
    return found


def _count(found: Said, usage: Json) -> None:
    given, details = number(usage.get("input_tokens")), mapping(usage.get("input_tokens_details"))
    read, write = number(details.get("cached_tokens")), number(details.get("cache_write_tokens"))
    found.tokens = {
        "input_uncached": None if given is None else max(0, given - (read or 0) - (write or 0)),
        "cache_read": read,
        "cache_write": write,
        "output": number(usage.get("output_tokens")),
        "reasoning": number(mapping(usage.get("output_tokens_details")).get("reasoning_tokens")),
    }
    cost = usage.get("cost")
    found.cost_usd = float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _usage(answer: Answer) -> Json:
    tokens = answer.tokens
    return {
        "input_tokens": answer.all_input,
        "input_tokens_details": {"cached_tokens": tokens["cache_read"]},
        "output_tokens": tokens["output"],
        "output_tokens_details": {"reasoning_tokens": tokens["reasoning"]},
        "total_tokens": answer.all_input + tokens["output"],
    }


def _item(answer: Answer, status: str) -> Json:
    move = answer.move
    if move.tool is None:
        text = {"type": "output_text", "text": move.text, "annotations": []}
        content = [text] if status == "completed" else []
        return {"type": "message", "id": answer.id("msg_"), "status": status, "role": "assistant", "content": content}
    call = {"id": answer.id("fc_"), "call_id": answer.id("call_"), "name": move.tool, "status": status}
    if isinstance(move.arguments, str):
        return {**call, "id": answer.id("ctc_"), "type": "custom_tool_call", "input": move.arguments}
    arguments = json.dumps(move.arguments) if status == "completed" else ""
    return {**call, "type": "function_call", "arguments": arguments}


def _response(answer: Answer, status: str) -> Json:
    done = status == "completed"
    return {
        "id": answer.id("resp_"),
        "object": "response",
        "created_at": _CREATED,
        "status": status,
        "model": answer.model,
        "output": [_item(answer, status)] if done else [],
        "incomplete_details": None,
        "error": None,
        "usage": _usage(answer) if done else None,
    }


def whole(answer: Answer) -> Json:
    """A response."""
    return _response(answer, "completed")


def _middle(answer: Answer) -> list[Json]:
    item = _item(answer, "completed")
    about = {"item_id": item["id"], "output_index": 0}
    if item["type"] == "message":
        part, place = item["content"][0], {**about, "content_index": 0}
        return [
            {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
            {"type": "response.output_text.delta", **place, "delta": part["text"]},
            {"type": "response.output_text.done", **place, "text": part["text"]},
            {"type": "response.content_part.done", **place, "part": part},
        ]
    if item["type"] == "custom_tool_call":
        return [{"type": "response.custom_tool_call_input.delta", **about, "delta": item["input"]}]
    return [
        {"type": "response.function_call_arguments.delta", **about, "delta": item["arguments"]},
        {"type": "response.function_call_arguments.done", **about, "arguments": item["arguments"]},
    ]


def events(answer: Answer) -> list[bytes]:
    """response.created to response.completed, one item between."""
    parts: list[Json] = [
        {"type": "response.created", "response": _response(answer, "in_progress")},
        {"type": "response.output_item.added", "output_index": 0, "item": _item(answer, "in_progress")},
        *_middle(answer),
        {"type": "response.output_item.done", "output_index": 0, "item": _item(answer, "completed")},
        {"type": "response.completed", "response": whole(answer)},
    ]
    return [event({**part, "sequence_number": at}, part["type"]) for at, part in enumerate(parts)]
