"""Trying again by itself: only after a rate limit or a server's error, with a growing pause, honouring retry-after."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.contracts.protocols import FaultFound

RETRIED = frozenset({"rate_limited", "server_error"})
LONGEST = 3600.0  # seconds; a provider that asks for more is better asked by the next run
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_SAID = (
    r"(?:retry[ _-]?after|(?:try again|retry|retrying|available again|resets?) in)[\"']?\s*[:=]?\s*[\"']?"
    r"(\d+(?:\.\d+)?)\s*(milliseconds|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h)?\b"
)


def retry_after(
    fault: FaultFound, events: Mapping[str, Any] | None, endpoint: Mapping[str, Any] | None = None
) -> float | None:
    """Seconds the provider asked to wait: by the header that the endpoint saw (`endpoint`: its facts in evidence.json),
    else in the fault's message or the last error of the stream that says so.
    """
    header = (endpoint or {}).get("retry_after_seconds")
    if header is not None:
        return float(header)
    errors = [str(error["message"]) for error in (events or {}).get("errors", [])]
    for text in (fault.message, *reversed(errors)):
        found = re.search(_SAID, text, re.IGNORECASE)
        if found:
            unit = (found[2] or "s").lower()
            short = "ms" if unit.startswith(("ms", "milli")) else unit[0]
            return float(found[1]) * _UNITS[short]
    return None


def pause(fault: FaultFound, asked: float | None, tries: int, settings: Settings) -> float | None:
    """Seconds until the next try; None: no further one. `tries`: how many were made."""
    if fault.kind not in RETRIED or tries > settings.retries:
        return None
    if asked is not None and asked > LONGEST:
        return None
    grown = settings.backoff_seconds * 2.0 ** (tries - 1)
    return min(LONGEST, max(asked or 0.0, grown))


def patience(wall_seconds: float, settings: Settings) -> float:
    """Seconds in which a first attempt with all its retries ought to be over."""
    pauses = sum(min(LONGEST, settings.backoff_seconds * 2.0**n) for n in range(settings.retries))
    return wall_seconds * (3 + settings.retries) + pauses + 60
