"""Reading foreign JSON without trusting its types: a missing or wrong-typed field is None or empty, never an error."""

from __future__ import annotations

import math
from typing import Any

LARGEST = 1 << 53  # no token or turn count is larger; a larger one is a broken stream


def at(value: Any, *path: str | int) -> Any:
    """The part of `value` below `path` (object keys, list indexes), or None."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def text(value: Any, *path: str | int) -> str | None:
    """A string, or None."""
    found = at(value, *path)
    return found if isinstance(found, str) else None


def count(value: Any, *path: str | int) -> int | None:
    """A whole number from 0 up, or None; 3.0 counts as 3, True does not count."""
    found = number(value, *path)
    return int(found) if found is not None and 0 <= found <= LARGEST and float(found).is_integer() else None


def number(value: Any, *path: str | int) -> float | int | None:
    """A finite number, or None."""
    found = at(value, *path)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        return None
    return found


def dollars(value: Any, *path: str | int) -> float | None:
    """An amount from 0 up in US dollars, or None."""
    found = number(value, *path)
    return float(found) if found is not None and found >= 0 else None


def flag(value: Any, *path: str | int) -> bool | None:
    """True, False, or None."""
    found = at(value, *path)
    return found if isinstance(found, bool) else None


def items(value: Any, *path: str | int) -> list[Any]:
    """A list, or an empty one."""
    found = at(value, *path)
    return found if isinstance(found, list) else []


def mapping(value: Any, *path: str | int) -> dict[str, Any]:
    """An object, or an empty one."""
    found = at(value, *path)
    return found if isinstance(found, dict) else {}
