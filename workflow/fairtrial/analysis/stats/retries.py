"""Would starting over sooner pay? Unit: the attempt, task by task; seconds and US dollars."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
MIN_GREENS = 4  # per task, so that each half has two to choose a cutoff from


def restart_expected_time(t: ArrayLike, event: ArrayLike, tau: float) -> Floats:
    """Rows (x, F(x), expected seconds to the first green when every try is stopped at x), shape (cutoffs, 3).

    Cutoffs are the times with an event and `tau`. Source: mean(min(T, x)) / P(T <= x), Luby et al. 1993.
    Without any event there is one row with an infinite time.
    """
    time, happened = np.asarray(t, dtype=float), np.asarray(event, dtype=bool)
    cutoffs = np.unique(np.append(time[happened & (time <= tau)], tau))
    green = np.sort(time[happened])
    share = np.searchsorted(green, cutoffs, side="right") / max(time.size, 1)
    mean = _mean_capped(np.sort(time), cutoffs)
    expected = np.divide(mean, share, out=np.full(mean.shape, math.inf), where=share > 0)
    return np.column_stack((cutoffs, share, expected))


def _mean_capped(ordered: Floats, cutoffs: Floats) -> Floats:
    """mean(min(t, x)) for every x; `ordered` ascending."""
    below = np.searchsorted(ordered, cutoffs, side="right")
    sums = np.concatenate(([0.0], np.cumsum(ordered)))
    return np.asarray((sums[below] + cutoffs * (ordered.size - below)) / max(ordered.size, 1))


def luby_sequence(n: int) -> list[int]:
    """The first n terms of the universal restart sequence 1, 1, 2, 1, 1, 2, 4, ... Source: Luby et al. 1993."""
    terms: list[int] = []
    for i in range(1, n + 1):
        k = i.bit_length()
        terms.append(2 ** (k - 1) if i == 2**k - 1 else terms[i - 2 ** (k - 1)])
    return terms


def green_within(p: float, k: int) -> float:
    """Chance of a green within k independent tries, 1-(1-p)^k: a plug-in, so prefer pass@k while k <= n."""
    return 1.0 - (1.0 - p) ** k


class Saving(NamedTuple):
    """Cross-fitted seconds saved by the chosen cutoff, its lower 95 % bound, its standard error."""

    seconds: float
    low: float
    se: float


def crossfitted_saving(spent: ArrayLike, event: ArrayLike) -> Saving | None:
    """Seconds saved per first green of one task by a cutoff chosen on one half and judged on the other, both ways.

    `spent` (attempts,) seconds each try used (to green, or until it gave up or was stopped), `event` 0/1. A cutoff is
    chosen by the smallest expected time; judging it on the same attempts would always show a saving. None with fewer
    than 4 greens, and a saving of -inf where the cutoff lost every green of the half it was judged on.
    """
    used, green = np.asarray(spent, dtype=float), np.asarray(event, dtype=bool)
    if int(green.sum()) < MIN_GREENS:
        return None
    half = np.arange(used.size) % 2
    capped, kept = used.copy(), green.copy()
    for side in (0, 1):
        learn, judge = half != side, half == side
        cutoff = _best_cutoff(used[learn], green[learn])
        capped[judge] = np.minimum(used[judge], cutoff)
        kept[judge] = green[judge] & (used[judge] <= cutoff)
    return _saving(used, green.astype(float), capped, kept.astype(float))


def _best_cutoff(used: Floats, green: NDArray[np.bool_]) -> float:
    curve = restart_expected_time(used, green, float(used.max()) if used.size else 0.0)
    return float(curve[int(np.argmin(curve[:, 2])), 0]) if curve.size and np.isfinite(curve[:, 2]).any() else math.inf


def _saving(used: Floats, green: Floats, capped: Floats, kept: Floats) -> Saving:
    """Difference of the two ratio estimates, with the linearised standard error of a ratio."""
    if kept.sum() == 0:
        return Saving(-math.inf, -math.inf, math.inf)
    plain, cut = used.sum() / green.sum(), capped.sum() / kept.sum()
    influence = (used - plain * green) / green.mean() - (capped - cut * kept) / kept.mean()
    se = float(influence.std(ddof=1)) / math.sqrt(used.size)
    seconds = float(plain - cut)
    return Saving(seconds, seconds - 1.959963984540054 * se, se)


def mean_saving(savings: list[Saving]) -> Saving | None:
    """Mean over tasks ("these tasks"): errors add in squares. None without a task."""
    if not savings:
        return None
    seconds = float(np.mean([s.seconds for s in savings]))
    se = math.sqrt(sum(s.se**2 for s in savings)) / len(savings)
    low = seconds - 1.959963984540054 * se if math.isfinite(se) and math.isfinite(seconds) else -math.inf
    return Saving(seconds, low, se)
