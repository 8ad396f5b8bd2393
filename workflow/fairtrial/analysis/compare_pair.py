"""The figures of one pair of arms, and the correction over a table of pairs (shape in compare.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairtrial.analysis import columns, compare_change, compare_words
from fairtrial.analysis.arms import Arm, Json
from fairtrial.analysis.compare_change import Facts
from fairtrial.analysis.stats import paired, rates, repeats, survival, tables

Floats = NDArray[np.float64]
RATIOS = {"seconds": "seconds_to_green", "cost": "cost_usd", "tokens": ""}


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison: the scored rows of an arm and their sums by task."""

    arm: Arm
    label: str
    rows: pd.DataFrame
    code: NDArray[np.intp]  # (rows,) place of the task in `names`
    names: list[str]
    passes: Floats  # (tasks,)
    tries: Floats  # (tasks,)
    facts: Facts
    seconds: Floats  # (rows,) to green; infinite where never green: at risk to the end of its task
    capped: Floats  # (rows,) to green, else the budget
    logs: dict[str, Floats]  # RATIOS -> (rows,) logarithms of green attempts, NaN elsewhere

    @classmethod
    def of(cls, arm: Arm, label: str = "") -> Side:
        """From an arm, whatever of it is scored."""
        rows = arm.scored()
        code, names = columns.task_codes(rows)
        passes, tries, _ = columns.pass_counts(rows)
        green, seconds = columns.green_rows(rows), columns.numbers(rows, "seconds_to_green")
        capped, event = survival.never_green(seconds, green, columns.numbers(rows, "wall_budget_seconds"))
        seconds, logs = np.where(event, seconds, np.inf), {}
        for name, column in RATIOS.items():
            values = columns.numbers(rows, column) if column else columns.tokens(rows)
            logs[name] = np.log(np.where(green & (np.nan_to_num(values) > 0), values, np.nan))
        facts = Facts.of(rows)
        return cls(arm, label or arm.name, rows, code, names, passes, tries, facts, seconds, capped, logs)

    def summary(self) -> Json:
        """Who it is and how much it holds, over all its tasks."""
        return {
            "label": self.label, **{k: v for k, v in self.arm.identity().items() if k not in ("role", "compared")},
            "scored": int(self.tries.sum()), "passes": int(self.passes.sum()), "tasks": len(self.names),
            "harness_versions": columns.known_labels(self.rows, "harness_version"),
            "models_observed": columns.known_labels(self.rows, "model_observed"),
        }  # fmt: skip

    def places(self, common: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """(place in `names` of each common task, place in `common` of each row or -1)."""
        where = {name: i for i, name in enumerate(self.names)}
        index = np.array([where[name] for name in common], dtype=np.intp)
        back = np.full(len(self.names) + 1, -1, dtype=np.intp)
        back[index] = np.arange(index.size)
        return index, back[self.code]


@dataclass(frozen=True, slots=True)
class Match:
    """Two sides on the tasks both have."""

    a: Side
    b: Side
    tasks: list[str]
    at: tuple[NDArray[np.intp], NDArray[np.intp]]  # per side (rows,): place in `tasks`, -1 elsewhere
    counts: tuple[Floats, Floats, Floats, Floats]  # passes and attempts of a, then of b, per task
    alpha: float
    family: int  # pairs of the table the intervals hold over

    @classmethod
    def of(cls, a: Side, b: Side, alpha: float, family: int) -> Match:
        """The intersection of both task sets."""
        tasks = sorted(set(a.names) & set(b.names))
        (index_a, at_a), (index_b, at_b) = a.places(tasks), b.places(tasks)
        counts = (a.passes[index_a], a.tries[index_a], b.passes[index_b], b.tries[index_b])
        return cls(a, b, tasks, (at_a, at_b), counts, alpha, family)

    @property
    def level(self) -> float:
        """Of one interval, so that all of the table hold jointly (Bonferroni)."""
        return 1 - self.alpha / self.family

    @property
    def size(self) -> float:
        """Attempts per task of the side with fewer (paired.attempts_per_task); 0 without tasks."""
        return paired.attempts_per_task(self.counts[1], self.counts[3]) if self.tasks else 0.0

    def rate_differences(self) -> Floats:
        """Difference of the pass rates, shape (tasks,)."""
        c_a, n_a, c_b, n_b = self.counts
        return rates.task_rates(c_a, n_a) - rates.task_rates(c_b, n_b)

    def means(self, values: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """Mean of each side's known row values by task, shapes (tasks,), NaN where there is none."""
        found = []
        for value, at in zip(values, self.at, strict=True):
            known = (at >= 0) & ~np.isnan(value)
            size = np.bincount(at[known], minlength=len(self.tasks)).astype(float)
            total = np.bincount(at[known], value[known], minlength=len(self.tasks))
            found.append(total / np.where(size > 0, size, np.nan))
        return found[0], found[1]

    def student(self, d: Floats) -> tuple[float | None, float | None, float | None]:
        """Paired t bounds and p of a mean difference over tasks like these; nulls below five tasks."""
        found = paired.paired_t(d, self.level) if d.size >= rates.MIN_TASKS else None
        return (found.low, found.high, found.p) if found else (None, None, None)


def table(pairs: Sequence[tuple[Side, Side]], settings: Json) -> list[Json]:
    """PAIR of each pair: intervals jointly at 1 - alpha over the table, q by Benjamini-Hochberg over it."""
    alpha = float(settings.get("alpha", 0.05))
    found = [_figures(Match.of(a, b, alpha, len(pairs)), settings) for a, b in pairs]
    for path in (("pass_rate", "p", "q"), ("pass_rate", "these_p", "these_q"), ("time", "p", "q"),
                 *((name, "p", "q") for name in RATIOS)):  # fmt: skip
        group, p, q = path
        corrected = tables.benjamini_hochberg([np.nan if x[group][p] is None else x[group][p] for x in found])
        for one, value in zip(found, corrected.tolist(), strict=True):
            one[group][q] = None if math.isnan(value) else value
    for one in found:
        compare_words.read(one, alpha)
    return found


def _figures(match: Match, settings: Json) -> Json:
    a, b, tasks = match.a, match.b, set(match.tasks)
    changed = compare_change.changed(a.arm, b.arm, a.facts, b.facts, settings.get("recipes"))
    return {
        "a": a.summary(),
        "b": b.summary(),
        "axes": [axis for axis in columns.AXES if getattr(a.arm, axis) != getattr(b.arm, axis)],
        "tasks": {"common": len(tasks), "only_a": sorted(set(a.names) - tasks), "only_b": sorted(set(b.names) - tasks)},
        "pass_rate": _pass_rate(match),
        "per_task": _per_task(match),
        "reliability": _reliability(match, settings.get("k")),
        "time": _time(match),
        **{name: _ratio(match, name) for name in RATIOS},
        "detectable": _detectable(match),
        "changed": changed,
        "confounded": len(changed) > 1,
    }


def _pass_rate(match: Match) -> Json:
    """Rates, difference, both intervals and both tests."""
    c_a, n_a, c_b, n_b = match.counts
    d = match.rate_differences()
    wide = paired.pseudo_task_interval(d, match.size, match.level) if d.size >= rates.MIN_TASKS else None
    flips, exact = paired.sign_flip(d), tables.stratified_exact(*match.counts)
    these = _these(match)
    return {
        "a": rates.pass_rate(c_a, n_a), "b": rates.pass_rate(c_b, n_b),
        "difference": float(d.mean()) if d.size else None,
        "low": wide.low if wide else None, "high": wide.high if wide else None,
        "level": match.level, "joint_over": match.family,
        "p": flips.p, "smallest_p": flips.smallest, "method": flips.method,
        "these_low": these[0], "these_high": these[1], "these_p": exact.p, "these_method": exact.method,
    }  # fmt: skip


def _these(match: Match) -> tuple[float | None, float | None]:
    """Bounds of the pooled difference on exactly these tasks."""
    c_a, n_a, c_b, n_b = match.counts
    pooled_a, pooled_b = rates.pooled_rate(c_a, n_a), rates.pooled_rate(c_b, n_b)
    first = rates.wilson(float(c_a.sum()), float(n_a.sum()), match.level)
    second = rates.wilson(float(c_b.sum()), float(n_b.sum()), match.level)
    if pooled_a is None or pooled_b is None or first is None or second is None:
        return None, None
    return paired.newcombe(pooled_a, first, pooled_b, second)


def _per_task(match: Match) -> list[Json]:
    p, q = tables.fisher_per_task(*match.counts)
    keys = ("task", "a_passes", "a_attempts", "b_passes", "b_attempts", "difference", "p", "q")
    whole = (x.astype(int).tolist() for x in match.counts)
    d = match.rate_differences().tolist()
    lists = (match.tasks, *whole, d, p.tolist(), q.tolist())
    return [dict(zip(keys, row, strict=True)) for row in zip(*lists, strict=True)]


def _reliability(match: Match, wanted: int | None) -> Json:
    """pass^k of both over the tasks with k attempts on both sides; k is the pair's own unless one is wanted.
    Without an interval: near the ceiling all tasks agree, and any over tasks would have no width."""
    c_a, n_a, c_b, n_b = match.counts
    k = wanted or int(match.size)
    enough = (n_a >= k) & (n_b >= k) & (k > 0)
    first, second = (repeats.pass_hat_k(n[enough], c[enough], k) for c, n in ((c_a, n_a), (c_b, n_b)))
    means = {"a": _mean(first), "b": _mean(second), "difference": _mean(first - second)}
    return {"k": k, "tasks": int(first.size), **means}


def _time(match: Match) -> Json:
    """Log-rank stratified by task; mean seconds to green by task, a failed attempt at its budget: not measured where a
    failure has none (imported results), for a mean over the greens alone would favour whoever passes less."""
    sides = list(zip((match.a, match.b), match.at, strict=True))
    times = np.concatenate([side.seconds[at >= 0] for side, at in sides])
    stratum = np.concatenate([at[at >= 0] for at in match.at])
    group = np.repeat([0, 1], [int((at >= 0).sum()) for at in match.at])
    rank = survival.logrank(times, np.isfinite(times), group, stratum)
    capped = match.a.capped, match.b.capped
    if any(np.isnan(values[at >= 0]).any() for values, at in zip(capped, match.at, strict=True)):
        capped = np.full_like(capped[0], np.nan), np.full_like(capped[1], np.nan)
    means = match.means(capped)
    d = means[0] - means[1]
    d = d[~np.isnan(d)]
    low, high, _ = match.student(d)
    return {
        "p": rank.p, "observed": rank.observed, "expected": rank.expected,
        "a_mean_seconds": _mean(means[0]), "b_mean_seconds": _mean(means[1]),
        "difference_seconds": _mean(d), "low": low, "high": high,
    }  # fmt: skip


def _mean(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _ratio(match: Match, name: str) -> Json:
    """Geometric mean ratio over tasks where both sides have a green attempt with a known, positive value."""
    means = match.means((match.a.logs[name], match.b.logs[name]))
    d = means[0] - means[1]
    d = d[~np.isnan(d)]
    low, high, p = match.student(d)
    return {
        "ratio": math.exp(float(d.mean())) if d.size else None,
        "low": math.exp(max(low, -700.0)) if low is not None else None,
        "high": math.exp(min(high, 700.0)) if high is not None else None,
        "p": p,
        "tasks": int(d.size),
    }


def _detectable(match: Match) -> Json:
    """Smallest difference found with power .8: planned, from the data seen, and that over the whole table."""
    d, n, alpha = match.rate_differences(), match.size, match.alpha
    if d.size < 2:
        return {"planned": None, "observed": None, "corrected": None, "attempts": int(n)}
    spread = float(np.concatenate((d, [1 / n, -1 / n])).std(ddof=1))
    return {
        "planned": paired.minimum_detectable_effect(d.size, n, alpha=alpha),
        "observed": paired.detectable(spread, d.size, alpha=alpha),
        "corrected": paired.detectable(spread, d.size, alpha=alpha / match.family),
        "attempts": int(n),
    }
