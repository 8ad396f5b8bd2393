"""Time until green. Unit: the attempt; strata are tasks.

An attempt that gives up is never green: its time is the budget and its event 0. Censoring it at its exit would say
"it might still have become green", which is false: tests/bench/power.py turns a true .70 into .99 so.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
SLACK = 1e-12  # a product of fractions that is exactly one half may come out a rounding above it


def never_green(seconds: ArrayLike, green: ArrayLike, budget: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    """(time, event): seconds to green where green, else (budget, 0); all shapes (attempts,), seconds."""
    event = np.asarray(green, dtype=bool)
    seconds_known = np.asarray(seconds, dtype=float)
    event = event & ~np.isnan(seconds_known)
    return np.where(event, seconds_known, np.asarray(budget, dtype=float)), event


class Curve(NamedTuple):
    """Product-limit curve at the times with an event: survival (not yet green), at risk, events."""

    t: Floats
    survival: Floats
    at_risk: Floats
    events: Floats

    @property
    def green(self) -> Floats:
        """Share green by t."""
        return 1.0 - self.survival


def km_curve(t: ArrayLike, event: ArrayLike) -> Curve:
    """Kaplan-Meier estimate; `t` (attempts,) seconds, `event` (attempts,) 0/1. Source: Kaplan and Meier 1958."""
    time, happened = np.asarray(t, dtype=float), np.asarray(event, dtype=float)
    unique, inverse = np.unique(time, return_inverse=True)
    events = np.bincount(inverse, happened, minlength=unique.size).astype(float)
    leaving = np.bincount(inverse, minlength=unique.size).astype(float)
    at_risk = time.size - (np.cumsum(leaving) - leaving)
    keep = events > 0
    survival = np.cumprod(1.0 - events[keep] / at_risk[keep])
    return Curve(unique[keep], survival, at_risk[keep], events[keep])


def km_median(t: ArrayLike, event: ArrayLike) -> float | None:
    """Smallest time at which half are green (S <= .5 + 1e-12); None when that is never reached."""
    curve = km_curve(t, event)
    reached = np.flatnonzero(curve.survival <= 0.5 + SLACK)
    return float(curve.t[reached[0]]) if reached.size else None


class Restricted(NamedTuple):
    """Restricted mean time and its standard error, seconds."""

    rmst: float
    se: float


def restricted_mean(t: ArrayLike, event: ArrayLike, tau: float) -> Restricted | None:
    """Area under the curve to `tau` seconds, with Greenwood's standard error; None without attempts."""
    if np.asarray(t).size == 0:
        return None
    curve = km_curve(np.minimum(np.asarray(t, dtype=float), tau), np.asarray(event) * (np.asarray(t) <= tau))
    edges = np.concatenate(([0.0], curve.t, [tau]))
    areas = np.concatenate(([1.0], curve.survival)) * np.diff(edges)
    right = np.cumsum(areas[::-1])[::-1][1:]  # area to the right of each event
    left_over = curve.at_risk - curve.events
    growth = np.divide(curve.events, curve.at_risk * left_over, out=np.zeros_like(right), where=left_over > 0)
    return Restricted(float(areas.sum()), math.sqrt(float((right**2 * growth).sum())))


class LogRank(NamedTuple):
    """Observed and expected events of group 0, chi-square with one degree of freedom, p (None when V = 0)."""

    observed: float
    expected: float
    chi2: float | None
    p: float | None


def logrank(t: ArrayLike, event: ArrayLike, group: ArrayLike, stratum: ArrayLike | None = None) -> LogRank:
    """Log-rank test of group 0 against group 1, stratified when `stratum` codes are given.

    All shapes (attempts,). Source: Mantel 1966; sums of observed, expected and variance over strata.
    """
    time, happened = np.asarray(t, dtype=float), np.asarray(event, dtype=float)
    first = (np.asarray(group) == 0).astype(float)
    code = np.zeros(time.size) if stratum is None else np.asarray(stratum, dtype=float)
    order = np.lexsort((time, code))
    time, happened, first, code = time[order], happened[order], first[order], code[order]
    start = np.ones(time.size, dtype=bool)
    start[1:] = (time[1:] != time[:-1]) | (code[1:] != code[:-1])
    begin = np.flatnonzero(start)
    if begin.size == 0:
        return LogRank(0.0, 0.0, None, None)
    events = np.add.reduceat(happened, begin)
    first_events = np.add.reduceat(happened * first, begin)
    # At risk = everyone of the stratum from this row on: total of the stratum's end minus what came before.
    last = np.searchsorted(code, code[begin], side="right")
    before = np.concatenate(([0.0], np.cumsum(first)))
    n, n_first = (last - begin).astype(float), before[last] - before[begin]
    share = n_first / n
    spread = np.divide(n - events, n - 1, out=np.zeros_like(n), where=n > 1)
    expected, variance = float((events * share).sum()), float((events * share * (1 - share) * spread).sum())
    observed = float(first_events.sum())
    if variance <= 0:
        return LogRank(observed, expected, None, None)
    from scipy.special import chdtrc

    chi2 = (observed - expected) ** 2 / variance
    return LogRank(observed, expected, chi2, float(chdtrc(1, chi2)))
