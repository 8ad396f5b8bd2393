"""Inline SVG whose colours are CSS variables: marks, axes, the little interval bars. Units are CSS pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from fairtrial.analysis.report.html import Safe, esc, join, tag

if TYPE_CHECKING:
    from fairtrial.analysis.report.model import Arm


def figure(width: float, height: float, label: str, *parts: object, class_: str = "chart") -> Safe:
    """An SVG of fixed size (a narrow page scrolls it rather than shrinking its text), named for screen readers."""
    return tag(
        "svg", *parts, class_=class_, role="img", aria_label=label, width=num(width), height=num(height),
        viewBox=f"0 0 {num(width)} {num(height)}",
    )  # fmt: skip


def num(value: float) -> str:
    """A coordinate with at most one decimal."""
    text = f"{value:.1f}"
    return text.removesuffix(".0") if text != "-0.0" else "0"


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Safe:
    """A straight line."""
    return Safe(f'<line x1="{num(x1)}" y1="{num(y1)}" x2="{num(x2)}" y2="{num(y2)}" class="{class_}"/>')


def text(x: float, y: float, words: object, class_: str = "", anchor: str = "") -> Safe:
    """A text; anchor: middle or end."""
    said = f' class="{class_}"' if class_ else ""
    at = f' text-anchor="{anchor}"' if anchor else ""
    return Safe(f'<text x="{num(x)}" y="{num(y)}"{said}{at}>{esc(words)}</text>')


def rect(x: float, y: float, width: float, height: float, class_: str) -> Safe:
    """A rectangle."""
    size = f'width="{num(max(width, 0))}" height="{num(height)}"'
    return Safe(f'<rect x="{num(x)}" y="{num(y)}" {size} class="{class_}"/>')


def path(points: Iterable[tuple[float, float]], class_: str, close: bool = False) -> Safe:
    """A line through points."""
    steps = "L".join(f"{num(x)} {num(y)}" for x, y in points)
    return Safe(f'<path d="M{steps}{"Z" if close else ""}" class="{class_}"/>')


_SIDES = {"triangle": (3, -90.0, 1.25), "square": (4, 45.0, 1.3), "diamond": (4, 0.0, 1.25), "star": (5, -90.0, 1.25)}


def mark(arm: Arm, x: float, y: float, size: float = 5) -> Safe:
    """The arm's mark: shape and colour by harness, fill by model, so that neither colour nor fill is needed alone."""
    kind = f"m c{arm.colour} {arm.fill}"
    if arm.shape == "circle":
        return Safe(f'<circle cx="{num(x)}" cy="{num(y)}" r="{num(size)}" class="{kind}"/>') + _inner(arm, x, y, size)
    if arm.shape == "cross":
        arms = ((x - size, y - size, x + size, y + size), (x - size, y + size, x + size, y - size))
        return join(line(*ends, class_=f"l c{arm.colour}") for ends in arms)
    count, turn, scale = _SIDES[arm.shape]
    angles = [math.radians(turn + 360 / count * step) for step in range(count)]
    shift = size * 0.2 if arm.shape == "triangle" else 0
    corners = [(x + size * scale * math.cos(a), y + shift + size * scale * math.sin(a)) for a in angles]
    return Safe(path(corners, kind, close=True) + _inner(arm, x, y, size))


def _inner(arm: Arm, x: float, y: float, size: float) -> Safe:
    if arm.fill != "dot":
        return Safe("")
    return Safe(f'<circle cx="{num(x)}" cy="{num(y)}" r="{num(size * 0.35)}" class="m c{arm.colour} solid"/>')


def icon(arm: Arm) -> Safe:
    """The mark alone, for tables; decoration, the name stands beside it."""
    return tag(
        "svg", mark(arm, 7, 7, 4.5), class_="icon", width="14", height="14", viewBox="0 0 14 14", aria_hidden="true"
    )


class Log:
    """A logarithmic axis from `low` to `high` (both above 0) onto x0..x1."""

    def __init__(self, low: float, high: float, x0: float, x1: float) -> None:
        self.low, self.high, self.x0, self.x1 = low, max(high, low * 1.001), x0, x1

    def __call__(self, value: float) -> float:
        """Position; values beyond the ends stand at the ends."""
        share = math.log(max(value, 1e-9) / self.low) / math.log(self.high / self.low)
        return self.x0 + (self.x1 - self.x0) * min(max(share, 0.0), 1.0)


class Linear:
    """A linear axis."""

    def __init__(self, low: float, high: float, x0: float, x1: float) -> None:
        self.low, self.high, self.x0, self.x1 = low, high if high > low else low + 1, x0, x1

    def __call__(self, value: float) -> float:
        """Position; values beyond the ends stand at the ends."""
        share = (value - self.low) / (self.high - self.low)
        return self.x0 + (self.x1 - self.x0) * min(max(share, 0.0), 1.0)


_TICKS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18000, 36000, 86400)


def time_axis(axis: Log, least: float = 34) -> list[tuple[float, str]]:
    """(seconds, words) of ticks at least `least` pixels apart, with the end of the axis; minutes bare but the last."""
    wanted = [float(mark_) for mark_ in _TICKS if axis.low <= mark_ < axis.high] + [axis.high]
    kept = [wanted[-1]]
    for seconds in reversed(wanted[:-1]):
        if axis(kept[-1]) - axis(seconds) >= least:
            kept.append(seconds)
    kept.reverse()
    return [(seconds, _tick(seconds, seconds == kept[-1])) for seconds in kept]


def _tick(seconds: float, last: bool) -> str:
    if seconds < 60:
        return f"{seconds:.3g} s"
    if seconds < 7200:
        return f"{seconds / 60:.3g}{' min' if last else ''}"
    return f"{seconds / 3600:.3g} h"


def nice_ticks(high: float, count: int = 4) -> list[float]:
    """0 to at least `high` in round steps."""
    if high <= 0:
        return [0.0, 1.0]
    raw = high / count
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw)
    return [step * number for number in range(math.ceil(high / step - 1e-9) + 1)]


def decades(low: float, high: float) -> list[float]:
    """1-2-5 marks between two positive numbers."""
    found: list[float] = []
    power = math.floor(math.log10(low))
    while 10.0**power <= high:
        found += [factor * 10.0**power for factor in (1, 2, 5) if low <= factor * 10.0**power <= high]
        power += 1
    return found


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Label positions as close to `wanted` as a gap between neighbours allows, kept within [low, high]."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    placed = [0.0] * len(wanted)
    at = low - gap
    for place in order:
        at = max(wanted[place], at + gap)
        placed[place] = at
    over = at - high
    if over > 0:
        for place in reversed(order):
            placed[place] = min(placed[place], high)
            high = placed[place] - gap
    return placed
