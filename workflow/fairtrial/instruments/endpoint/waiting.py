"""What an answer's headers ask about trying again: a number, and nothing else of them, is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def asked(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds to wait: `retry-after-ms`, else `retry-after` (seconds, or a date: RFC 9110, 10.2.3); None: not said."""
    given = {name.lower(): value for name, value in headers.items()}
    milliseconds = _number(given.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = given.get("retry-after")
    seconds = _number(said)
    return seconds if seconds is not None or said is None else _until(said, now or datetime.now(UTC))


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _until(text: str, now: datetime) -> float | None:
    try:
        then = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max(0.0, (then - now).total_seconds())
