"""What repetition says: pass@k, pass^k, flips, flaky tasks, spread, similarity. Unit: the task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
MOST_DISTINCT = 200  # different change sets per task that are compared pairwise


class Mean(NamedTuple):
    """A mean over the tasks that allow it, and how many those are."""

    value: float | None
    tasks: int


def _mean(values: Floats) -> Mean:
    known = values[~np.isnan(values)]
    return Mean(float(known.mean()) if known.size else None, int(known.size))


def _counts(n: ArrayLike, c: ArrayLike) -> tuple[Floats, Floats]:
    tries, passes = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(c, dtype=float))
    return tries, passes


def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> Floats:
    """Chance that at least one of k attempts passes, per task: 1 - C(n-c,k)/C(n,k). NaN where k > n.

    Source: Chen et al. 2021 (unbiased estimator), as a running product so that large n stay exact.
    """
    tries, passes = _counts(n, c)
    none = np.ones(tries.shape)
    for i in range(k):
        none *= np.maximum(tries - passes - i, 0.0) / np.where(tries > i, tries - i, np.nan)
    return np.where(tries >= k, 1.0 - none, np.nan)


def pass_hat_k(n: ArrayLike, c: ArrayLike, k: int) -> Floats:
    """Chance that all of k attempts pass, per task: C(c,k)/C(n,k). NaN where k > n.

    Source: Yao et al. 2024 (tau-bench, pass^k).
    """
    tries, passes = _counts(n, c)
    every = np.ones(tries.shape)
    for i in range(k):
        every *= np.maximum(passes - i, 0.0) / np.where(tries > i, tries - i, np.nan)
    return np.where(tries >= k, every, np.nan)


def mean_pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> Mean:
    """Mean of pass@k over the tasks with n >= k, and their number."""
    return _mean(pass_at_k(n, c, k))


def mean_pass_hat_k(n: ArrayLike, c: ArrayLike, k: int) -> Mean:
    """Mean of pass^k over the tasks with n >= k, and their number."""
    return _mean(pass_hat_k(n, c, k))


def flip_rate(n: ArrayLike, c: ArrayLike) -> Floats:
    """Share of pairs of attempts of a task that disagree: 2c(n-c)/(n(n-1)). NaN where n < 2."""
    tries, passes = _counts(n, c)
    pairs = np.where(tries >= 2, tries * (tries - 1), np.nan)
    return 2 * passes * (tries - passes) / pairs


def mean_flip_rate(n: ArrayLike, c: ArrayLike) -> Mean:
    """Mean flip rate over tasks with two attempts or more."""
    return _mean(flip_rate(n, c))


def flaky_share(n: ArrayLike, c: ArrayLike) -> Mean:
    """Share of tasks (with n >= 2, else a flip cannot show) where some attempts pass and some do not."""
    tries, passes = _counts(n, c)
    flaky = ((passes > 0) & (passes < tries)).astype(float)
    return _mean(np.where(tries >= 2, flaky, np.nan))


def cv_per_task(values: ArrayLike, task: ArrayLike, tasks: int) -> Floats:
    """Coefficient of variation sd(ddof 1)/mean per task, shape (tasks,).

    `values` (attempts,) in any unit, NaN unknown and skipped; `task` (attempts,) codes 0..tasks-1.
    NaN with fewer than two known values or a mean <= 0.
    """
    x, code = np.asarray(values, dtype=float), np.asarray(task, dtype=np.intp)
    known = ~np.isnan(x)
    x, code = x[known], code[known]
    count = np.bincount(code, minlength=tasks).astype(float)
    mean = np.bincount(code, x, minlength=tasks) / np.where(count > 0, count, np.nan)
    squares = np.bincount(code, (x - mean[code]) ** 2, minlength=tasks)
    deviation = np.sqrt(squares / np.where(count >= 2, count - 1, np.nan))
    return deviation / np.where(mean > 0, mean, np.nan)


def mean_cv(values: ArrayLike, task: ArrayLike, tasks: int) -> Mean:
    """Mean over tasks of the within-task coefficient of variation."""
    return _mean(cv_per_task(values, task, tasks))


class Components(NamedTuple):
    """One-way variance components of pass (0/1); `between` is cut at 0, `between_raw` is not."""

    within: float
    between: float
    between_raw: float
    icc: float | None


def variance_components(n: ArrayLike, c: ArrayLike) -> Components | None:
    """Variance of an attempt's pass within tasks and between tasks; None below two tasks or without repetition.

    Source: one-way random-effects analysis of variance with unequal sizes (Searle, Casella, McCulloch 1992).
    """
    tries, passes = _counts(n, c)
    tries, passes = tries[tries > 0], passes[tries > 0]
    tasks, attempts = tries.size, float(tries.sum())
    if tasks < 2 or attempts <= tasks:
        return None
    rate, grand = passes / tries, float(passes.sum()) / attempts
    within = float((tries * rate * (1 - rate)).sum()) / (attempts - tasks)
    between_square = float((tries * (rate - grand) ** 2).sum()) / (tasks - 1)
    size = (attempts - float((tries**2).sum()) / attempts) / (tasks - 1)
    raw = (between_square - within) / size
    between = max(raw, 0.0)
    total = between + within
    return Components(within, between, raw, between / total if total > 0 else None)


class Similarity(NamedTuple):
    """Mean pairwise likeness of passing changes; `empty_pairs` counts pairs of two empty changes."""

    value: float | None
    pairs: int
    empty_pairs: int


def approach_similarity(changes: Sequence[Collection[object]]) -> Similarity:
    """Mean pairwise Jaccard index of the changed lines of one task's passing attempts.

    Fewer than two: None. A pair of two empty changes is no evidence of likeness: left out and counted.
    Equal change sets are counted once with their weight; above 200 different ones, 200 evenly spread are used.
    """
    weights = Counter(frozenset(change) for change in changes)
    empty = weights.pop(frozenset(), 0)
    sets = sorted(weights, key=lambda s: (len(s), sorted(map(str, s))))
    if len(sets) > MOST_DISTINCT:
        sets = [sets[i] for i in np.linspace(0, len(sets) - 1, MOST_DISTINCT).astype(int)]
    total, pairs = 0.0, 0
    for i, left in enumerate(sets):
        alike = weights[left] * (weights[left] - 1) // 2
        total, pairs = total + alike, pairs + alike
        for right in sets[i + 1 :]:
            common = len(left & right)
            weight = weights[left] * weights[right]
            total += weight * common / (len(left) + len(right) - common)
            pairs += weight
    pairs += empty * sum(weights[s] for s in sets)  # an empty change shares nothing with any other
    return Similarity(total / pairs if pairs else None, pairs, empty * (empty - 1) // 2)
