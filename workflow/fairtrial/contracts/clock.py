"""Wall-clock times as they stand in records."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> str:
    """UTC now, ISO 8601 with milliseconds and Z."""
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    """ISO 8601 with milliseconds and Z, from an aware datetime."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse(text: str) -> datetime:
    """The inverse of stamp."""
    return datetime.fromisoformat(text)
