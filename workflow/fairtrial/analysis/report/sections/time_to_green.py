"""4: share of attempts green by each time, one card per model."""

from __future__ import annotations

from fairtrial.analysis.report import curves, short, svg, words
from fairtrial.analysis.report.html import Safe, details, join, lead, scroll, tag
from fairtrial.analysis.report.model import Arm, Report

ORDER = 4
TITLE = "How long to green?"
QUESTION = "Share of attempts green by each time."
BARE = True  # the section makes its own cards
WIDTH, LEFT, RIGHT, TOP, BASE = 506, 54, 446, 14, 248
MOST_CURVES = 10
LONGEST = 16  # columns of a name beside its curve


def html(report: Report) -> str:
    """Two cards side by side where there are two models or more."""
    models = report.models
    half = len(models) > 1
    cards = [_card(report, model, number, half) for number, model in enumerate(models)]
    return join(cards)


def _card(report: Report, model: str, number: int, half: bool) -> Safe:
    arms = [arm for arm in report.ranked if arm.model == model]
    name = f"time-to-green-{number}" if number else "time-to-green"
    heading = tag("h2", f"{TITLE} ", tag("span", model), id=f"h-{name}")
    text = (
        "Share of attempts green by each minute, of all scored attempts. Bands resample tasks. Log time axis. "
        "Below: attempts not yet green."
    )
    body = join([heading, lead(text), *_charts(report, arms, "seconds_to_green", model), _first(report, arms, model)])
    wide = "card half" if half else "card"
    return tag("section", body, class_=wide, id=name, aria_labelledby=f"h-{name}")


def _first(report: Report, arms: list[Arm], model: str) -> Safe:
    known = any(report.values(arm, "first_green_upper_seconds") for arm in arms)
    if not known:
        return Safe("")
    note = lead(
        "When the workspace was first green, from replayed snapshots (upper end of the interval); green attempts only."
    )
    return details("First green moment", note, *_charts(report, arms, "first_green_upper_seconds", model))


def _charts(report: Report, arms: list[Arm], column: str, model: str) -> list[Safe]:
    """Ten curves a chart: more cannot be told apart."""
    groups = [arms[start : start + MOST_CURVES] for start in range(0, len(arms), MOST_CURVES)]
    what = "first green moment" if column.startswith("first") else "green by time"
    return [
        scroll(_chart(report, group, column, model), f"Chart: {what}, {model}{f', part {n}' if n > 1 else ''}")
        for n, group in enumerate(groups, 1)
    ]


def limits(report: Report, arms: list[Arm], column: str) -> tuple[float, float]:
    """The axis: from below the fastest green to the budget, seconds."""
    times = [t for arm in arms for t in report.values(arm, column) if t > 0]
    high = max([report.wall_budget, *times]) or 1.0
    low = min(times, default=high / 100)
    return min(max(low * 0.7, high / 1e5), high / 3), high


def _chart(report: Report, arms: list[Arm], column: str, model: str) -> Safe:
    low, high = limits(report, arms, column)
    labels = short.names((arm.label for arm in arms), LONGEST, "\u2026")
    right = min(RIGHT, WIDTH - 14 - 8.2 * max(map(short.columns, labels.values())))  # the names stand inside the card
    x, y = svg.Log(low, high, LEFT, right), svg.Linear(0, 1, BASE, TOP)
    found = [curves.curve(report, arm, column, low, high) for arm in arms]
    ticks = svg.time_axis(x)
    parts: list[object] = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts += [
            svg.line(LEFT, y(share), right, y(share), "g"),
            svg.text(LEFT - 8, y(share) + 4, f"{share:.0%}", "q", "end"),
        ]
    for tick, said in ticks:
        parts += [svg.line(x(tick), TOP, x(tick), BASE, "g"), svg.text(x(tick), BASE + 18, said, "q s", "middle")]
    for arm, curve in zip(arms, found, strict=True):
        if curve.band:
            edge = [(x(t), y(hi)) for t, _, hi in curve.band] + [(x(t), y(lo)) for t, lo, _ in reversed(curve.band)]
            parts.append(svg.path(edge, f"band c{arm.colour}", close=True))
    for arm, curve in zip(arms, found, strict=True):
        parts.append(svg.path(_steps(curve, x, y), f"l c{arm.colour}{_dash(arms, arm)}"))
    parts += _labels(arms, found, y, labels, right + 6) + _waiting(arms, found, ticks, x)
    last = [(c.steps[-1][1] if c.steps else 0.0) if c.attempts else None for c in found]
    said = "; ".join(f"{arm.label} {words.percent(share)} of {c.attempts}"
                     for arm, c, share in zip(arms, found, last, strict=True))  # fmt: skip
    height = BASE + 44 + 14 * max(len(arms), 2)
    return svg.figure(WIDTH, height, f"Share green by time, {model}, at the budget: {said}", *parts)


def _dash(arms: list[Arm], arm: Arm) -> str:
    """Up to four curves are named at their ends; more also differ in their dashes."""
    return ("", " d", " e", " f")[arms.index(arm) % 4] if len(arms) > 4 else ""


def _steps(curve: curves.GreenCurve, x: svg.Log, y: svg.Linear) -> list[tuple[float, float]]:
    points, share = [(x.x0, y(0))], 0.0
    for seconds, reached in curve.steps:
        points += [(x(seconds), y(share)), (x(seconds), y(reached))]
        share = reached
    return [*points, (x.x1, y(share))]


def _labels(
    arms: list[Arm], found: list[curves.GreenCurve], y: svg.Linear, shown: dict[str, str], at_x: float
) -> list[Safe]:
    ends = [y(c.steps[-1][1] if c.steps else 0.0) + 4 for c in found]
    placed = svg.spread(ends, 14, TOP + 6, BASE + 2)
    return [svg.text(at_x, at, shown[arm.label], f"k b c{arm.colour}")
            for arm, at in zip(arms, placed, strict=True)]  # fmt: skip


def _waiting(arms: list[Arm], found: list[curves.GreenCurve], ticks: list[tuple[float, str]], x: svg.Log) -> list[Safe]:
    parts = [svg.text(0, BASE + 38, "not yet", "q s"), svg.text(0, BASE + 51, "green", "q s")]
    for row, (arm, curve) in enumerate(zip(arms, found, strict=True)):
        y = BASE + 38 + 14 * row
        parts += [svg.text(x(t), y, curve.waiting(t), f"k s c{arm.colour}", "middle") for t, _ in ticks]
    return parts


def markdown(report: Report) -> str:
    """The scorecard's table has the medians."""
    return ""
