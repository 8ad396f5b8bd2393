"""What kind of failure a status code and a message tell of: the one place that reads providers' error texts."""

from __future__ import annotations

import re
from typing import Any

# First match wins. Texts are those of the providers and of the programs' HTTP libraries, as recorded.
_TEXTS = (
    ("quota", r"insufficient.?quota|credit balance|exceeded your current quota|usage limit|billing|out of credits"),
    ("rate_limited", r"rate.?limit|too many requests|RESOURCE_EXHAUSTED|\b429\b"),
    (
        "auth",
        r"unauthori[sz]ed|authenticat|invalid.{0,20}api.?key|api.?key.{0,40}(missing|not set|not found|invalid)"
        r"|not logged in|/login|log ?in first|no auth|permission.?denied.{0,20}api|\b40[13]\b",
    ),
    ("server_error", r"overloaded|internal server error|service unavailable|bad gateway|server.?error|\b5\d\d\b"),
    (
        "refused",
        r"ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|connection (refused|error|reset)|connect error"
        r"|cannot connect|unable to connect|fetch failed|network error|error sending request|stream disconnected",
    ),
    (
        "model",
        r"model.{0,60}(not (found|exist|supported|available)|does not exist|unknown)|unknown model"
        r"|ModelNotFound|context.?(window|length)|prompt is too long|maximum context",
    ),
)
_SIGN_IN = re.compile(r"not logged in|/login|log ?in first|please (log|sign) ?in|auth method", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CAP = re.compile(r"fairtrial.{0,40}?\b(turn|token|usd)[ _]cap", re.IGNORECASE)


def kind_of(status: int | None, message: str) -> str:
    """auth, quota, rate_limited, server_error, refused, model or other."""
    by_text = next((kind for kind, pattern in _TEXTS if re.search(pattern, message, re.IGNORECASE)), "other")
    if status is None:
        return by_text
    if status in (402, 429):
        return "quota" if by_text == "quota" or status == 402 else "rate_limited"
    if status in (401, 403):
        return "quota" if by_text == "quota" else "auth"
    if status >= 500:
        return "server_error"
    return "model" if status in (404, 413) or by_text == "other" else by_text


def not_signed_in(message: str) -> bool:
    """Whether the text asks for a login rather than refusing a key."""
    return bool(_SIGN_IN.search(message))


def cap_of(message: str) -> str | None:
    """turn_cap, token_cap or usd_cap when the text is the metering endpoint's own refusal."""
    found = _CAP.search(message)
    return f"{found.group(1).lower()}_cap" if found else None


def error(
    message: str, *, status: int | None = None, fatal: bool = False, at_ns: int | None = None, kind: str | None = None
) -> dict[str, Any]:
    """One entry of the events record's `errors`; the message is kept to 2,000 characters."""
    return {
        "kind": kind or kind_of(status, message),
        "message": message[:2000],
        "status": status,
        "fatal": fatal,
        "at_ns": at_ns,
    }


def reason_in(stderr: bytes) -> str | None:
    """The line that tells most: the first of a known kind, else the last that is not blank."""
    text = _COLOUR.sub("", stderr[-200_000:].decode("utf-8", "replace"))
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    known = (line for line in lines if kind_of(None, line) != "other")
    return next(known, lines[-1] if lines else None)
