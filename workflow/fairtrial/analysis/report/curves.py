"""Share of attempts green by t, with bands over resampled tasks. Unit: the attempt; bands resample tasks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

from fairtrial.analysis.report.model import Arm, Report

DRAWS = 400
GRID = 60
LEAST_TASKS = 5


class GreenCurve(NamedTuple):
    """Steps (seconds, share), the band (seconds, low, high; empty below five tasks), attempts, when each was green."""

    steps: list[tuple[float, float]]
    band: list[tuple[float, float, float]]
    attempts: int
    times: list[float]  # seconds, ascending; all of them, where the steps of a large run are thinned

    def waiting(self, seconds: float) -> int:
        """Attempts not green by then."""
        return self.attempts - bisect_right(self.times, seconds)


def curve(report: Report, arm: Arm, column: str, low: float, high: float) -> GreenCurve:
    """Of all scored attempts of the arm; one that is never green stays at 0, whenever it gave up."""
    import numpy as np

    rows = [row for row in report.rows_of[arm.index] if report.scored[row]]
    seconds, outcome = report.columns[column], report.columns["outcome"]
    times = np.array([_known(seconds[row], outcome[row]) for row in rows], dtype=float)
    green = np.sort(times[np.isfinite(times)])
    steps = [(float(t), (place + 1) / len(rows)) for place, t in enumerate(green)]
    tasks = [report.task_of[row] for row in rows]
    return GreenCurve(_thinned(steps), _band(times, tasks, low, high), len(rows), green.tolist())


def _known(seconds: Any, outcome: Any) -> float:
    return float(seconds) if outcome == "green" and seconds is not None else float("inf")


def _thinned(steps: list[tuple[float, float]], most: int = 250) -> list[tuple[float, float]]:
    """At most `most` steps: a curve of 10,000 attempts looks the same with every fortieth."""
    if len(steps) <= most:
        return steps
    return [steps[round(place * (len(steps) - 1) / (most - 1))] for place in range(most)]


def cost_interval(report: Report, arm: Arm) -> tuple[float, float] | None:
    """95% of cost per success over resampled tasks; None below five tasks, or where a draw has no success."""
    import numpy as np

    cost, outcome = report.columns["cost_usd"], report.columns["outcome"]
    sums: dict[str, list[float]] = {}
    for row in report.rows_of[arm.index]:
        if report.scored[row] and cost[row] is not None:
            entry = sums.setdefault(report.task_of[row], [0.0, 0.0])
            entry[0] += cost[row]
            entry[1] += outcome[row] == "green"
    if len(sums) < LEAST_TASKS:
        return None
    table = np.array([sums[task] for task in sorted(sums)])
    draws = np.random.default_rng(2).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=DRAWS) @ table
    if (draws[:, 1] == 0).any():
        return None
    low, high = np.quantile(draws[:, 0] / draws[:, 1], (0.025, 0.975))
    return (float(low), float(high)) if low > 0 else None


def power_interval(report: Report, arm: Arm, k: int) -> tuple[float, float] | None:
    """95% of pass^k over resampled tasks; None below five tasks with k attempts."""
    import numpy as np

    from fairtrial.analysis.stats import repeats

    sums: dict[str, list[int]] = {}
    for row in report.rows_of[arm.index]:
        if report.scored[row]:
            entry = sums.setdefault(report.task_of[row], [0, 0])
            entry[0] += 1
            entry[1] += report.columns["outcome"][row] == "green"
    table = np.array([sums[task] for task in sorted(sums)]).reshape(-1, 2)
    values = repeats.pass_hat_k(table[:, 0], table[:, 1], k)
    values = values[~np.isnan(values)]
    if values.size < LEAST_TASKS:
        return None
    draws = np.random.default_rng(3).multinomial(values.size, np.full(values.size, 1 / values.size), size=DRAWS)
    low, high = np.quantile(draws @ values / values.size, (0.025, 0.975))
    return float(low), float(high)


def _band(times: Any, tasks: Sequence[str], low: float, high: float) -> list[tuple[float, float, float]]:
    import numpy as np

    names, code = np.unique(np.array(tasks, dtype=object).astype(str), return_inverse=True)
    if len(names) < LEAST_TASKS:
        return []
    grid = np.geomspace(low, high, GRID)
    place = np.searchsorted(grid, times)  # first grid time that is not earlier
    counts = np.zeros((len(names), GRID + 1))
    np.add.at(counts, (code, place), 1)
    green = np.cumsum(counts[:, :GRID], axis=1)
    tries = np.bincount(code, minlength=len(names)).astype(float)
    draws = np.random.default_rng(1).multinomial(len(names), np.full(len(names), 1 / len(names)), size=DRAWS)
    shares = (draws @ green) / (draws @ tries)[:, None]
    bounds = np.quantile(shares, (0.025, 0.975), axis=0)
    return [(float(t), float(a), float(b)) for t, a, b in zip(grid, bounds[0], bounds[1], strict=True)]
