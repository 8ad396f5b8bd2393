"""JSON lines as agent programs really print them: torn, mixed with plain text, sometimes not UTF-8.

Lines are split on the byte 0x0A only (codex and opencode print U+2028 raw, which `str.splitlines` would split on);
a carriage return before it is dropped. Whatever comes back can be written again by any JSON writer: lone
surrogates became U+FFFD, numbers that are not finite became None, integers beyond 64 bits became text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fairtrial.contracts.lean import field, lean

DEPTH = 100  # deeper nesting counts as malformed: later writers recurse too
_SURROGATE = re.compile("[\ud800-\udfff]")
_INT64 = 1 << 63


@lean(frozen=True)
class Line:
    """One JSON object of a stream; `number` is 1-based, `at_ns` the receipt time where it is known."""

    number: int
    value: dict[str, Any]
    at_ns: int | None


@lean
class Lines:
    """A whole stream: its objects, how many non-empty lines it had, and the numbers of those that are no objects."""

    objects: list[Line] = field(default_factory=list)
    count: int = 0
    malformed: list[int] = field(default_factory=list)


def clean(value: Any, depth: int = 0) -> Any:
    """`value` made of parts every JSON writer accepts. Raises ValueError when nested deeper than DEPTH."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if -_INT64 <= value < _INT64 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth >= DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, list):
        return [clean(item, depth + 1) for item in value]
    return {clean(key): clean(item, depth + 1) for key, item in value.items()}


def parse(raw: bytes) -> Any:
    """One JSON value, cleaned, or None when `raw` holds none. Bytes that are not UTF-8 become U+FFFD."""
    try:
        return clean(json.loads(raw.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None


def parse_object(raw: bytes) -> dict[str, Any] | None:
    """One JSON object, cleaned, or None."""
    value = parse(raw)
    return value if isinstance(value, dict) else None


def split(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(1-based number, line without its ending) of every non-blank line."""
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = raw.removesuffix(b"\r")
        if line.strip():
            yield number, line


def read(data: bytes, times_ns: Sequence[int] = (), drop: Callable[[bytes], bool] | None = None) -> Lines:
    """Every object of a stream. `drop` says by a line's raw bytes that it is known and worth no parsing."""
    lines = Lines()
    for number, raw in split(data):
        lines.count += 1
        if drop is not None and drop(raw):
            continue
        value = parse_object(raw)
        if value is None:
            lines.malformed.append(number)
        else:
            lines.objects.append(Line(number, value, times_ns[number - 1] if number <= len(times_ns) else None))
    return lines
