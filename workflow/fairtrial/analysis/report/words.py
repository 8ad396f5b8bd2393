"""Numbers as people read them. None is a dash, never 0."""

from __future__ import annotations

import math
from datetime import datetime

DASH = "\u2013"
MINUS = "\u2212"


def percent(value: float | None) -> str:
    """A share as whole percent; close to the ends it does not claim 0 or 100 that is not exact."""
    if value is None or math.isnan(value):
        return DASH
    if 0 < value < 0.005:
        return "<1%"
    if 0.995 <= value < 1:
        return ">99%"
    return f"{value * 100:.0f}%"


def points(value: float | None, sign: bool = True) -> str:
    """A difference of shares in percentage points, with a sign."""
    if value is None or math.isnan(value):
        return DASH
    rounded = round(value * 100)
    if rounded == 0:
        return "0"
    return f"{'+' if rounded > 0 and sign else MINUS if rounded < 0 else ''}{abs(rounded)}"


def bounds(interval: tuple[float, float] | list[float] | None) -> str:
    """An interval of shares, such as 84-99."""
    if not interval or interval[0] is None or interval[1] is None:
        return DASH
    return f"{interval[0] * 100:.0f}{DASH}{interval[1] * 100:.0f}"


def duration(seconds: float | None, sign: bool = False) -> str:
    """Seconds below two minutes, minutes below two hours, else hours; a difference has its sign."""
    if seconds is None or math.isnan(seconds):
        return DASH
    size = abs(seconds)
    mark = MINUS if seconds < 0 else "+" if sign and seconds > 0 else ""
    if size < 10:
        return f"{mark}{size:.1f} s"
    if size < 120:
        return f"{mark}{size:.0f} s"
    if size < 7200:
        return f"{mark}{size / 60:.1f} min"
    return f"{mark}{size / 3600:.1f} h"


def budget(seconds: float | None) -> str:
    """A round duration without a needless decimal: 30 min."""
    return duration(seconds).replace(".0 ", " ")


def dollars(value: float | None) -> str:
    """US dollars with three digits that matter."""
    if value is None or math.isnan(value):
        return DASH
    if value == 0:
        return "$0"
    if abs(value) < 0.0005:
        return "<$0.001" if value > 0 else f"{MINUS}$0.001"
    return f"${value:,.3f}" if abs(value) < 1 else f"${value:,.2f}"


def plain(value: float | None, places: int = 2) -> str:
    """A number with fixed places."""
    return DASH if value is None or math.isnan(value) else f"{value:,.{places}f}"


def chance(value: float | None) -> str:
    """A p or q value."""
    if value is None or math.isnan(value):
        return DASH
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def moment(value: datetime | None) -> str:
    """A time to the minute."""
    return DASH if value is None else value.strftime("%Y-%m-%d %H:%M")


def plural(number: int, word: str, many: str = "") -> str:
    """3 tasks, 1 task."""
    return f"{number:,} {word if number == 1 else many or word + 's'}"


def listing(words: list[str]) -> str:
    """a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
