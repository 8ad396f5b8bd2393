"""Pass rates and their intervals. Unit of sampling: the task; n attempts of a task share its difficulty.

Everywhere `c` (passes) and `n` (scored attempts) are arrays of shape (tasks,); tasks with n = 0 do not count.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Interval = tuple[float, float] | None
MIN_TASKS = 5  # below it a claim about "tasks like these" is not shown
SIMPLE_Z = 1.959963984540054


def normal_quantile(level: float) -> float:
    """Two-sided critical value of the normal distribution for a confidence level in (0, 1)."""
    from scipy.special import ndtri

    return SIMPLE_Z if level == 0.95 else float(ndtri(0.5 + level / 2))


def t_quantile(level: float, df: float) -> float:
    """Two-sided critical value of Student's t with `df` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, 0.5 + level / 2))


def task_rates(c: ArrayLike, n: ArrayLike) -> Floats:
    """c/n per task, NaN where n = 0; shape (tasks,)."""
    passes, tries = np.asarray(c, dtype=float), np.asarray(n, dtype=float)
    passes, tries = np.broadcast_arrays(passes, tries)
    return np.asarray(np.divide(passes, tries, out=np.full(passes.shape, np.nan), where=tries > 0))


def pass_rate(c: ArrayLike, n: ArrayLike) -> float | None:
    """Mean over tasks of c/n (the headline); None when no task has a scored attempt."""
    rates = task_rates(c, n)
    known = rates[~np.isnan(rates)]
    return float(known.mean()) if known.size else None


def pooled_rate(c: ArrayLike, n: ArrayLike) -> float | None:
    """All passes over all scored attempts; None for 0/0."""
    passes, tries = np.broadcast_arrays(np.asarray(c, dtype=float), np.asarray(n, dtype=float))
    total = float(tries.sum())
    return float(passes[tries > 0].sum()) / total if total > 0 else None


def wilson_arrays(p: ArrayLike, n: ArrayLike, critical: float) -> tuple[Floats, Floats]:
    """Wilson's score bounds for rates `p` from `n` (may be fractional), NaN where n = 0.

    Source: Wilson 1927. Ends are exactly 0 at p = 0 and exactly 1 at p = 1, and never -0.0.
    """
    rate, size = np.broadcast_arrays(np.asarray(p, dtype=float), np.asarray(n, dtype=float))
    size = np.where(size > 0, size, np.nan)
    z2 = critical * critical
    spread = critical * np.sqrt(rate * (1 - rate) / size + z2 / (4 * size * size))
    middle, scale = rate + z2 / (2 * size), 1 + z2 / size
    low = np.minimum(np.clip((middle - spread) / scale, 0.0, 1.0), rate)
    high = np.maximum(np.clip((middle + spread) / scale, 0.0, 1.0), rate)
    low = np.where(rate <= 0, 0.0, low)
    high = np.where(rate >= 1, 1.0, high)
    absent = np.isnan(size) | np.isnan(rate)
    return np.where(absent, np.nan, low), np.where(absent, np.nan, high)


def wilson(c: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's interval of c passes in n attempts; None for n = 0. The "these tasks" interval when pooled."""
    if n <= 0:
        return None
    low, high = wilson_arrays(c / n, n, normal_quantile(level))
    return float(low), float(high)


def cluster_se(c: ArrayLike, n: ArrayLike, correction: bool = True) -> float | None:
    """Standard error over tasks of the mean of task rates: sd / sqrt(T).

    Source: Miller 2024 (clustered standard errors); `correction=False` is his CR0 (divisor T). None below two tasks.
    """
    rates = task_rates(c, n)
    rates = rates[~np.isnan(rates)]
    if rates.size < 2:
        return None
    return float(rates.std(ddof=1 if correction else 0) / math.sqrt(rates.size))


def cluster_t(c: ArrayLike, n: ArrayLike, level: float = 0.95) -> Interval:
    """Mean of task rates +- t(T-1) x SE, not clipped: kept for comparison, it covers .809 where .95 is promised."""
    error, rate = cluster_se(c, n), pass_rate(c, n)
    if error is None or rate is None:
        return None
    tasks = int(np.count_nonzero(~np.isnan(task_rates(c, n))))
    half = t_quantile(level, tasks - 1) * error
    return rate - half, rate + half


def effective_size(c: ArrayLike, n: ArrayLike) -> float | None:
    """Attempts that independent sampling would need for the same task-level error: p(1-p)/SE^2 in [T, N].

    Source: Korn and Graubard 1998, effective sample size of a survey; at SE = 0 and p in {0, 1} it is T.
    """
    rates = task_rates(c, n)
    rates = rates[~np.isnan(rates)]
    if rates.size < 2:
        return None
    tasks, attempts = float(rates.size), float(np.broadcast_to(np.asarray(n, dtype=float), np.shape(c)).sum())
    rate, error = float(rates.mean()), float(rates.std(ddof=1) / math.sqrt(rates.size))
    if rate <= 0 or rate >= 1:
        return tasks
    if error * error <= rate * (1 - rate) / attempts:
        return max(attempts, tasks)
    return max(rate * (1 - rate) / (error * error), tasks)


def survey_wilson(c: ArrayLike, n: ArrayLike, level: float = 0.95, min_tasks: int = MIN_TASKS) -> Interval:
    """The "tasks like these" interval: Wilson with the effective size and the t(T-1) critical value.

    None below `min_tasks` tasks. Source: survey Wilson of statistics.md (Korn-Graubard size, Wilson form).
    """
    tasks = int(np.count_nonzero(~np.isnan(task_rates(c, n))))
    size, rate = effective_size(c, n), pass_rate(c, n)
    if size is None or rate is None or tasks < min_tasks:
        return None
    low, high = wilson_arrays(rate, size, t_quantile(level, tasks - 1))
    return float(low), float(high)


def task_bootstrap(c: ArrayLike, n: ArrayLike, draws: int = 2000, seed: int = 0, level: float = 0.95) -> Interval:
    """Percentile interval of the mean task rate over resampled tasks. Not for headlines: zero width near 0 and 1."""
    rates = task_rates(c, n)
    rates = rates[~np.isnan(rates)]
    if rates.size < 2:
        return None
    means = bootstrap_weights(rates.size, draws, seed) @ rates
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@lru_cache(maxsize=32)
def bootstrap_weights(tasks: int, draws: int, seed: int) -> Floats:
    """Shares of each task in each draw, shape (draws, tasks): one matrix product whatever the number of attempts."""
    weights = np.random.default_rng(seed).multinomial(tasks, np.full(tasks, 1 / tasks), size=draws)
    return np.asarray(weights / tasks)


def bounds_with_unscored(c: ArrayLike, n: ArrayLike, unscored: ArrayLike) -> Interval:
    """Mean over tasks of the pass rate if every unscored attempt had failed, and if every one had passed."""
    passes, tries, missing = (np.asarray(x, dtype=float) for x in (c, n, unscored))
    low, high = pass_rate(passes, tries + missing), pass_rate(passes + missing, tries + missing)
    return None if low is None or high is None else (low, high)
