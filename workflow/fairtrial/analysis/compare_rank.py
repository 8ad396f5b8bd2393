"""Rank ranges: an arm is placed above another only where their difference survives correction over all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from fairtrial.analysis import columns
from fairtrial.analysis.arms import Arm, Json
from fairtrial.analysis.stats import paired, rates, tables

ALPHA = 0.05
Counts = dict[str, tuple[float, float]]  # task -> (passes, scored attempts)


def counts_of(arm: Arm) -> Counts:
    """Passes and scored attempts by task."""
    passes, tries, names = columns.pass_counts(arm.scored())
    return {name: (c, n) for name, c, n in zip(names, passes.tolist(), tries.tolist(), strict=True)}


def ranks(arms: Sequence[Arm], alpha: float = ALPHA) -> list[Json]:
    """One entry per group of comparable arms (simulated apart from measured, cold apart from warm).

    {"simulated", "adoption", "arms", "pairs", "level", "ranges": [{"arm", "low", "high", "of"}],
    "separated": [{"better", "worse"}]}; ranges sorted by low, high, name. Groups of one arm have no range.
    """
    found = []
    for group in sorted({arm.group for arm in arms if arm.compared}):
        members = [arm for arm in arms if arm.compared and arm.group == group]
        found.append({"simulated": group[0], "adoption": group[1]} | _group(members, alpha))
    return found


def _group(members: Sequence[Arm], alpha: float) -> Json:
    pairs = list(combinations(range(len(members)), 2))
    counts = [counts_of(arm) for arm in members]
    beaten = separated_pairs([difference(counts[a], counts[b]) for a, b in pairs], alpha)
    better = [(a, b) if sign > 0 else (b, a) for (a, b), sign in zip(pairs, beaten, strict=True) if sign]
    ranges = []
    for i, arm in enumerate(members):
        above, below = sum(worse == i for _, worse in better), sum(best == i for best, _ in better)
        ranges.append({"arm": arm.name, "low": 1 + above, "high": len(members) - below, "of": len(members)})
    ranges.sort(key=lambda one: (one["low"], one["high"], one["arm"]))
    named = [{"better": members[a].name, "worse": members[b].name} for a, b in better]
    return {"arms": len(members), "pairs": len(pairs), "level": 1 - alpha, "ranges": ranges, "separated": named}


def difference(a: Counts, b: Counts) -> tuple[np.ndarray, float]:
    """(differences of task rates over the tasks both have, attempts per task); ([], 0) without any."""
    both = [(*a[task], *b[task]) for task in sorted(a.keys() & b.keys()) if a[task][1] > 0 and b[task][1] > 0]
    if not both:
        return np.empty(0), 0.0
    table = np.array(both)
    d = rates.task_rates(table[:, 0], table[:, 1]) - rates.task_rates(table[:, 2], table[:, 3])
    return d, paired.attempts_per_task(table[:, 1], table[:, 3])


def separated_pairs(pairs: Sequence[tuple[np.ndarray, float]], alpha: float = ALPHA) -> list[int]:
    """Sign of each difference that is separated, else 0.

    Separated: the Benjamini-Hochberg q of the sign-flip test is at most alpha, and the interval that holds jointly
    over all these pairs (Bonferroni) leaves 0 out; both, so that no table contradicts another.
    """
    p = [paired.sign_flip(d).p if d.size else None for d, _ in pairs]
    q = tables.benjamini_hochberg([np.nan if x is None else x for x in p])
    level = 1 - alpha / max(len(pairs), 1)
    return [verdict(paired.pseudo_task_interval(d, n, level), float(value), alpha)
            for (d, n), value in zip(pairs, q, strict=True)]  # fmt: skip


def verdict(interval: paired.Paired | None, q: float, alpha: float = ALPHA) -> int:
    """1 or -1 where a pair is separated, else 0; NaN q and no interval are "not separated"."""
    if interval is None or not q <= alpha or interval.low <= 0 <= interval.high:
        return 0
    return 1 if interval.diff > 0 else -1
