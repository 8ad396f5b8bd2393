"""Wall-clock times as they stand in records."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


def utc_now() -> str:
    """UTC now, ISO 8601 with milliseconds and Z."""
    seconds, rest = divmod(time.time_ns(), 1_000_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{rest // 1_000_000:03d}Z"


def stamp(moment: datetime) -> str:
    """ISO 8601 with milliseconds and Z, from an aware datetime."""
    from datetime import UTC

    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse(text: str) -> datetime:
    """The inverse of stamp."""
    from datetime import datetime

    return datetime.fromisoformat(text)
