"""Tests on 2 x 2 tables and corrections over many of them. Unit: the attempt, strata are tasks."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
EQUAL = 1 + 1e-7  # tables this close in probability count as equally extreme (R's rule)
MOST_WORK = 2_000_000  # cells of a convolution; above it the normal form is exact to print


def _log_choose(n: Floats | float, k: Floats) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def hypergeometric(first: int, second: int, passes: int) -> tuple[int, Floats]:
    """(lowest value, probabilities) of the first group's passes when `passes` fall on both groups by chance."""
    low, high = max(0, passes - second), min(first, passes)
    x = np.arange(low, high + 1, dtype=float)
    log = _log_choose(float(first), x) + _log_choose(float(second), passes - x)
    weight = np.exp(log - log.max())
    return low, weight / weight.sum()


@lru_cache(maxsize=65536)
def fisher_p(a: int, b: int, c: int, d: int) -> float:
    """Two-sided Fisher exact p of [[a, b], [c, d]] (passes, failures of two arms). Source: Fisher 1922, R's rule."""
    low, chance = hypergeometric(a + b, c + d, a + c)
    return min(1.0, float(chance[chance <= chance[a - low] * EQUAL].sum()))


class Exact(NamedTuple):
    """A p value and how it was obtained: "exact" or "cmh" (too many attempts to enumerate)."""

    p: float | None
    method: str


def _strata(a: ArrayLike, n_a: ArrayLike, b: ArrayLike, n_b: ArrayLike) -> NDArray[np.int64]:
    rows = np.broadcast_arrays(*(np.asarray(x, dtype=np.int64) for x in (a, n_a, b, n_b)))
    table = np.stack(rows)
    return table[:, (table[1] > 0) & (table[3] > 0)]


def stratified_exact(a: ArrayLike, n_a: ArrayLike, b: ArrayLike, n_b: ArrayLike) -> Exact:
    """Exact conditional test that both arms pass alike within every task; arrays (tasks,) of passes and attempts.

    Source: exact Mantel-Haenszel test (R mantelhaen.test(exact=TRUE)): the sum of hypergeometric variables.
    None when no task can tell the arms apart (every task all passed or all failed).
    """
    table = _strata(a, n_a, b, n_b)
    mixed = (table[0] + table[2] > 0) & (table[0] + table[2] < table[1] + table[3])
    table = table[:, mixed]
    if table.shape[1] == 0:
        return Exact(None, "exact")
    width = np.minimum(table[1], table[0] + table[2])
    if int(width.sum()) * int(width.max()) * table.shape[1] > MOST_WORK * 25:
        return Exact(cmh(table[0], table[1], table[2], table[3])[1], "cmh")
    start, chance = 0, np.ones(1)
    for passes_a, size_a, passes_b, size_b in table.T:
        low, more = hypergeometric(int(size_a), int(size_b), int(passes_a + passes_b))
        start, chance = start + low, np.convolve(chance, more)
    seen = chance[int(table[0].sum()) - start]
    return Exact(min(1.0, float(chance[chance <= seen * EQUAL].sum())), "exact")


def cmh(a: ArrayLike, n_a: ArrayLike, b: ArrayLike, n_b: ArrayLike) -> tuple[float | None, float | None]:
    """(chi-square, p) of Cochran-Mantel-Haenszel without continuity correction; (None, None) when V = 0."""
    x, m, y, n = _strata(a, n_a, b, n_b).astype(float)
    total, passes = m + n, x + y
    expected = m * passes / total
    variance = m * n * passes * (total - passes) / (total**2 * np.maximum(total - 1, 1))
    if variance.sum() <= 0:
        return None, None
    from scipy.special import chdtrc

    chi2 = float((x - expected).sum() ** 2 / variance.sum())
    return chi2, float(chdtrc(1, chi2))


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """False discovery rate q values in the given order; NaN stays NaN and does not count. Source: BH 1995."""
    values = np.asarray(p, dtype=float)
    adjusted = np.full(values.shape, np.nan)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    if order.size:
        ranked = values[order] * order.size / np.arange(1, order.size + 1)
        adjusted[order] = np.minimum(np.minimum.accumulate(ranked[::-1])[::-1], 1.0)
    return adjusted


class PerTask(NamedTuple):
    """Fisher p and BH q per task, shape (tasks,); NaN where an arm has no attempt."""

    p: Floats
    q: Floats


def fisher_per_task(a: ArrayLike, n_a: ArrayLike, b: ArrayLike, n_b: ArrayLike) -> PerTask:
    """Fisher's exact test task by task with Benjamini-Hochberg over the tasks."""
    rows = np.broadcast_arrays(*(np.asarray(x, dtype=np.int64) for x in (a, n_a, b, n_b)))
    p = np.array(
        [
            fisher_p(int(x), int(m - x), int(y), int(n - y)) if m > 0 and n > 0 else math.nan
            for x, m, y, n in zip(*rows, strict=True)
        ]
    )
    return PerTask(p, benjamini_hochberg(p))


def mcnemar_exact(only_first: int, only_second: int) -> float | None:
    """Two-sided exact McNemar p on discordant pairs; None without any. Nearly powerless here: not for verdicts."""
    n = only_first + only_second
    if n == 0:
        return None
    tail = sum(math.comb(n, i) for i in range(min(only_first, only_second) + 1))
    return min(1.0, float(2 * tail / 2**n))
