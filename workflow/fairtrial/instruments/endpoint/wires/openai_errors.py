"""Errors as OpenAI words them, for both of its protocols."""

from __future__ import annotations

from fairtrial.instruments.endpoint.turn import Json

_KINDS = {401: ("authentication_error", "invalid_api_key"), 403: ("permission_error", "permission_denied"),
          429: ("rate_limit_error", "rate_limit_exceeded")}  # fmt: skip


def refusal(status: int, message: str) -> Json:
    """{"error": {...}}"""
    fallback = ("server_error", "server_error") if status >= 500 else ("invalid_request_error", "invalid_request")
    kind, code = _KINDS.get(status, fallback)
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def count(tokens: int) -> Json:
    """OpenAI has no such request; never asked."""
    return {"input_tokens": tokens}
