"""Gemini: POST /v1beta/models/MODEL:generateContent and :streamGenerateContent?alt=sse."""

from __future__ import annotations

from urllib.parse import unquote

from fairtrial.instruments.endpoint.sse import event
from fairtrial.instruments.endpoint.turn import Answer, Asked, Json, Said, listed, mapping, number, tool_of

NAME = "gemini"
HOST = "https://generativelanguage.googleapis.com"
_KINDS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
          429: "RESOURCE_EXHAUSTED"}  # fmt: skip


def asked(path: str, body: Json) -> Asked:
    """The model stands in the path; functionCall parts are calls."""
    name, _, verb = unquote(path.partition("/models/")[2]).rpartition(":")
    parts = (p for c in listed(body.get("contents")) for p in listed(mapping(c).get("parts")))
    calls = sum(1 for p in parts if "functionCall" in mapping(p))
    offered = [mapping(f) for t in listed(body.get("tools")) for f in listed(mapping(t).get("functionDeclarations"))]
    made = (tool_of(f, "parametersJsonSchema" if "parametersJsonSchema" in f else "parameters") for f in offered)
    return Asked(name or None, verb.startswith("stream"), tuple(t for t in made if t is not None), calls)


def said(objects: list[Json]) -> Said:
    """The last usageMetadata; promptTokenCount counts the cached ones in, candidates exclude thoughts."""
    found, calls = Said(), 0
    for one in objects:
        found.model = one.get("modelVersion") or found.model
        for candidate in map(mapping, listed(one.get("candidates"))):
            parts = listed(mapping(candidate.get("content")).get("parts"))
            calls += sum(1 for p in parts if "functionCall" in mapping(p))
        usage = mapping(one.get("usageMetadata"))
        if "promptTokenCount" in usage:
            prompt, read = number(usage["promptTokenCount"]), number(usage.get("cachedContentTokenCount"))
            thoughts, made = number(usage.get("thoughtsTokenCount")), number(usage.get("candidatesTokenCount"))
            found.tokens = {
                "input_uncached": None if prompt is None else max(0, prompt - (read or 0)),
                "cache_read": read or 0,
                "cache_write": None,
                "output": (made or 0) + (thoughts or 0),
                "reasoning": thoughts or 0,
            }
    found.tool_calls = calls if objects else None
    return found


def whole(answer: Answer) -> Json:
    """A GenerateContentResponse."""
    move, tokens = answer.move, answer.tokens
    part: Json = {"text": move.text}
    if move.tool is not None:
        part = {"functionCall": {"name": move.tool, "args": move.arguments}}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": answer.all_input,
            "cachedContentTokenCount": tokens["cache_read"],
            "candidatesTokenCount": tokens["output"] - tokens["reasoning"],
            "thoughtsTokenCount": tokens["reasoning"],
            "totalTokenCount": answer.all_input + tokens["output"],
        },
        "modelVersion": answer.model,
        "responseId": answer.id("r-"),
    }


def events(answer: Answer) -> list[bytes]:
    """One event holds it all."""
    return [event(whole(answer))]


def refusal(status: int, message: str) -> Json:
    """{"error": {"code", "message", "status"}}"""
    kind = _KINDS.get(status, "INTERNAL" if status >= 500 else "INVALID_ARGUMENT")
    return {"error": {"code": status, "message": message, "status": kind}}


def count(tokens: int) -> Json:
    """The answer of countTokens."""
    return {"totalTokens": tokens}
