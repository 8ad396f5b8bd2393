"""Bench: how often a real difference is found, and what censoring the attempts that gave up would say.

Every figure is a simulation with a fixed seed; its set-up is in the name and in docs/statistics.md. None has a limit:
they are what the choices of docs/statistics.md rest on.
"""

from __future__ import annotations

import numpy as np
from fairtrial.analysis.stats import paired, rates, survival, tables
from numpy.typing import NDArray

LIMITS: dict[str, float] = {}
TASKS, ROUNDS, MEAN, BETWEEN = 10, 400, 0.8, 0.2
SIZES = (3, 5, 10)
DROP, DIFFERENCE = 0.21, 0.25
BUDGET = 1800.0
Counts = NDArray[np.int64]


def measure() -> dict[str, float]:
    """Shares of ROUNDS at the 5 % level; ten tasks of mean .8 (beta, share of variance between tasks .2)."""
    return {**versions(), **two_arms(), **giving_up()}


def chances(rng: np.random.Generator, mean: float = MEAN) -> NDArray[np.float64]:
    """Chances to pass, shape (ROUNDS, TASKS)."""
    size = 1 / BETWEEN - 1
    return rng.beta(mean * size, (1 - mean) * size, (ROUNDS, TASKS))


def share(p: list[float | None]) -> float:
    """How many p values are at most .05."""
    return float(np.mean([x is not None and x <= 0.05 for x in p]))


def versions() -> dict[str, float]:
    """A drop of 21 points in the newest version: against the one before, and against the previous three pooled."""
    found = {}
    for n in SIZES:
        rng = np.random.default_rng(9)
        before = chances(rng)
        old = rng.binomial(n, before, (3, *before.shape)).transpose(1, 0, 2)
        new = rng.binomial(n, before * (MEAN - DROP) / MEAN)
        pairs = list(zip(old, new, strict=True))
        found |= {
            f"21-point drop found, {n} attempts, exact, adjacent":
                share([tables.stratified_exact(b, n, a[-1], n).p for a, b in pairs]),
            f"21-point drop found, {n} attempts, exact, pooled":
                share([tables.stratified_exact(b, n, a.sum(axis=0), 3 * n).p for a, b in pairs]),
            f"21-point drop found, {n} attempts, sign-flip, adjacent":
                share([paired.sign_flip(b / n - a[-1] / n).p for a, b in pairs]),
            f"21-point drop found, {n} attempts, sign-flip, pooled":
                share([paired.sign_flip(b / n - a.sum(axis=0) / (3 * n)).p for a, b in pairs]),
        }  # fmt: skip
    return found


def two_arms() -> dict[str, float]:
    """A difference of 25 points between two arms at five attempts: what each way to look at it finds."""
    rng, n = np.random.default_rng(10), 5
    first = chances(rng)
    a, b = rng.binomial(n, first), rng.binomial(n, first * (MEAN - DIFFERENCE) / MEAN)
    pairs = list(zip(a, b, strict=True))
    differences = [(x - y) / n for x, y in pairs]
    apart = [_apart(x, y, n) for x, y in pairs]
    strapped = [paired.paired_bootstrap(d, draws=400) for d in differences]
    same = rng.binomial(n, first)
    idle = [paired.paired_bootstrap((x - y) / n, draws=400) for x, y in zip(a, same, strict=True)]
    return {
        "25 points found, 5 attempts, sign-flip": share([paired.sign_flip(d).p for d in differences]),
        "25 points found, 5 attempts, stratified exact":
            share([tables.stratified_exact(x, n, y, n).p for x, y in pairs]),
        "25 points found, 5 attempts, intervals apart": float(np.mean(apart)),
        "25 points found, 5 attempts, majority-vote McNemar": share([_majority(x, y, n) for x, y in pairs]),
        "25 points found, 5 attempts, paired bootstrap": float(np.mean([i is not None and i[0] > 0 for i in strapped])),
        "0 points found, 5 attempts, paired bootstrap":
            float(np.mean([i is not None and (i[0] > 0 or i[1] < 0) for i in idle])),
        "planned difference found with power .8, 10 tasks, 5 attempts": paired.minimum_detectable_effect(10, 5) or 0.0,
    }  # fmt: skip


def _apart(x: Counts, y: Counts, n: int) -> bool:
    tries = np.full(TASKS, n)
    one, other = rates.survey_wilson(x, tries), rates.survey_wilson(y, tries)
    assert one is not None
    assert other is not None
    return bool(one[0] > other[1] or other[0] > one[1])


def _majority(x: Counts, y: Counts, n: int) -> float | None:
    first, second = x * 2 > n, y * 2 > n
    return tables.mcnemar_exact(int((first & ~second).sum()), int((second & ~first).sum()))


def giving_up() -> dict[str, float]:
    """7,000 of 10,000 attempts become green, the others give up; both take lognormal times below the budget."""
    rng = np.random.default_rng(11)
    green = np.arange(10_000) < 7_000
    seconds = np.minimum(rng.lognormal(np.log(300), 0.8, green.size), BUDGET)
    ours = survival.km_curve(*survival.never_green(seconds, green, BUDGET))
    censored = survival.km_curve(seconds, green)
    return {"share green, true .7, gave up = never green": float(ours.green[-1]),
            "share green, true .7, gave up = censored": float(censored.green[-1])}  # fmt: skip
