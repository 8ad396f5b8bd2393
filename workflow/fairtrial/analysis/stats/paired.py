"""Two arms on the same tasks. Unit: the task; `d` (tasks,) holds one difference per task."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairtrial.analysis.stats.rates import Interval, bootstrap_weights, t_quantile

Floats = NDArray[np.float64]
MOST_CELLS = 20_000_000  # of the exact sign-flip distribution; above it random flips are drawn
DRAWS = 20_000
POWER = 0.8
PLANNED_WITHIN = 0.12  # variance of a pass within a task, taken before there are data
PLANNED_INTERACTION = 0.01  # variance of the true difference from task to task, likewise


class Paired(NamedTuple):
    """Mean difference, its standard error, bounds and p over tasks."""

    diff: float
    se: float
    low: float
    high: float
    p: float | None


def paired_t(d: ArrayLike, level: float = 0.95) -> Paired | None:
    """Student's paired t over tasks; None below two tasks. Without spread p is None. Source: Student 1908."""
    x = np.asarray(d, dtype=float)
    if x.size < 2:
        return None
    return _student(float(x.mean()), float(x.std(ddof=1)) / math.sqrt(x.size), x.size - 1, level)


def _student(diff: float, se: float, df: int, level: float) -> Paired:
    from scipy.special import stdtr

    half = t_quantile(level, df) * se
    p = 2 * float(stdtr(df, -abs(diff) / se)) if se > 0 else None
    return Paired(diff, se, diff - half, diff + half, p)


def pseudo_task_interval(d: ArrayLike, n: float, level: float = 0.95) -> Paired | None:
    """Paired t whose standard error also holds two pseudo-tasks at +1/n and -1/n; bounds within [-1, 1].

    `n` is the usual number of attempts per task (attempts_per_task). The centre is the plain mean, so the estimate
    is not shrunk; the pseudo-tasks keep the width above 0 when all tasks agree (plain paired t: none).
    SE = sd of the T + 2 values (ddof 1) / sqrt(T), critical value t(T-1).
    Source: statistics.md; the paired form of the "add two" intervals of Agresti and Coull 1998. None below two tasks.
    """
    x = np.asarray(d, dtype=float)
    if x.size < 2 or n <= 0:
        return None
    widened = np.concatenate((x, [1 / n, -1 / n]))
    se = float(widened.std(ddof=1)) / math.sqrt(x.size)
    result = _student(float(x.mean()), se, x.size - 1, level)
    return result._replace(low=max(result.low, -1.0), high=min(result.high, 1.0))


def attempts_per_task(n_a: ArrayLike, n_b: ArrayLike) -> float:
    """Mean attempts per task of the arm with fewer, rounded down, at least 1: the n of the pseudo-tasks.

    The minimum over tasks would let a single missing attempt widen every interval to uselessness.
    """
    return float(max(1, math.floor(min(np.mean(np.asarray(n_a, dtype=float)), np.mean(np.asarray(n_b, dtype=float))))))


class SignFlip(NamedTuple):
    """p of the sign-flip test, the smallest p it could have reached, and "exact" or "random"."""

    p: float | None
    smallest: float | None
    method: str


def sign_flip(d: ArrayLike, seed: int = 0) -> SignFlip:
    """Randomisation test that every task's difference is as likely as its negative. Source: Fisher 1935.

    Zero differences say nothing and are dropped; none left: p is 1. With T tasks p cannot be below 2/2^T.
    """
    x = np.abs(np.asarray(d, dtype=float))
    signed = np.asarray(d, dtype=float)[x > 1e-12]
    x = x[x > 1e-12]
    if x.size == 0:
        return SignFlip(1.0 if np.asarray(d).size else None, 1.0 if np.asarray(d).size else None, "exact")
    smallest, total = 2.0 ** (1 - x.size), abs(float(signed.sum()))
    steps = _lattice(x)
    if steps is not None and int(steps.sum()) * x.size <= MOST_CELLS:
        return SignFlip(_lattice_p(steps, round(total * steps[0] / x[0])), smallest, "exact")
    if x.size <= 16:
        sums = np.abs(_all_signs(x.size) @ x)
        return SignFlip(float(np.mean(sums >= total - 1e-9 * max(total, 1.0))), smallest, "exact")
    sums = _random_signs(x.size, seed) @ x
    extreme = int(np.count_nonzero(np.abs(sums) >= total - 1e-9 * max(total, 1.0)))
    return SignFlip((1 + extreme) / (1 + sums.size), smallest, "random")


@lru_cache(maxsize=2)
def _all_signs(tasks: int) -> Floats:
    """Every choice of signs, shape (2^tasks, tasks)."""
    return np.asarray(1.0 - 2.0 * ((np.arange(2**tasks)[:, None] >> np.arange(tasks)) & 1))


@lru_cache(maxsize=2)
def _random_signs(tasks: int, seed: int) -> Floats:
    """The same draws for every pair of a table: they cost more than the test itself. Shape (draws, tasks)."""
    draws = max(2_000, min(DRAWS, 4_000_000 // tasks))
    return np.asarray(np.random.default_rng(seed).integers(0, 2, size=(draws, tasks)) * 2.0 - 1.0)


def _lattice(x: Floats) -> NDArray[np.int64] | None:
    """The differences as whole multiples of one step, or None when they share no coarse step."""
    for denominator in (1, 60, 420, 2520, 5040, 27720):
        scaled = x * denominator
        whole = np.rint(scaled)
        if np.all(np.abs(scaled - whole) < 1e-7):
            steps = whole.astype(np.int64)
            return np.asarray(steps // np.gcd.reduce(steps))
    smallest = float(x.min())
    ratio = x / smallest
    whole = np.rint(ratio)
    return whole.astype(np.int64) if np.all(np.abs(ratio - whole) < 1e-7) else None


def _lattice_p(steps: NDArray[np.int64], total: int) -> float:
    """Share of sign choices whose sum is at least as far from 0 as `total`, by convolution."""
    ways = np.ones(1)
    for step in steps:
        shifted = np.zeros(ways.size + 2 * int(step))
        shifted[: ways.size] += 0.5 * ways
        shifted[2 * int(step) :] += 0.5 * ways
        ways = shifted
    reach = (ways.size - 1) // 2
    return min(1.0, float(ways[np.abs(np.arange(-reach, reach + 1)) >= total].sum()))


def paired_bootstrap(d: ArrayLike, draws: int = 2000, seed: int = 0, level: float = 0.95) -> Interval:
    """Percentile interval of the mean over resampled tasks. Liberal: not for verdicts. None below two tasks."""
    x = np.asarray(d, dtype=float)
    if x.size < 2:
        return None
    low, high = np.quantile(bootstrap_weights(x.size, draws, seed) @ x, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def newcombe(p_a: float, a: tuple[float, float], p_b: float, b: tuple[float, float]) -> tuple[float, float]:
    """Bounds of p_a - p_b from the two rates' own intervals. Source: Newcombe 1998, method 10 (MOVER)."""
    low = p_a - p_b - math.hypot(p_a - a[0], b[1] - p_b)
    high = p_a - p_b + math.hypot(a[1] - p_a, p_b - b[0])
    return max(low, -1.0), min(high, 1.0)


def detectable(sd: float, tasks: int, power: float = POWER, alpha: float = 0.05) -> float | None:
    """Smallest true mean difference that a two-sided paired t over `tasks` tasks finds with `power`.

    `sd` is that of the per-task differences. Source: noncentral t, R power.t.test(strict=TRUE). None below two tasks.
    """
    if tasks < 2:
        return None
    from scipy.special import nctdtr

    df, critical = tasks - 1, t_quantile(1 - alpha, tasks - 1)

    def reached(delta: float) -> float:
        shift = delta * math.sqrt(tasks)
        upper, lower = float(nctdtr(df, shift, critical)), float(nctdtr(df, shift, -critical))
        return (1 - upper if math.isfinite(upper) else 1.0) + (lower if math.isfinite(lower) else 0.0)

    low, high = 0.0, 1.0
    while reached(high) < power and high < 1e6:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) < power else (low, middle)
    return high * sd


def minimum_detectable_effect(
    tasks: int,
    n: float,
    within_a: float = PLANNED_WITHIN,
    within_b: float = PLANNED_WITHIN,
    interaction: float = PLANNED_INTERACTION,
    *,
    power: float = POWER,
    alpha: float = 0.05,
) -> float | None:
    """The same, planned: from the variances within tasks of both arms (per attempt) and of the true difference."""
    return detectable(math.sqrt(within_a / n + within_b / n + interaction), tasks, power, alpha) if n > 0 else None
