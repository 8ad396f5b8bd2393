"""Bench: the scorecard at 100,000 attempts, and how often the intervals cover the truth.

Coverage is simulated over ten tasks, whose chances to pass are drawn from beta distributions (means .5, .7, .9, .97;
share of the variance between tasks .1, .2, .5, .8), with 3, 5 and 10 attempts each, 400 rounds a cell. A miss is
1 - coverage, so that limits are maxima. docs/statistics.md says what came out; tests/bench/power.py simulates tests.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
from fairtrial.analysis import dataset_tables
from fairtrial.analysis.stats import paired, rates
from numpy.typing import NDArray

from tests import attempt_frames

LIMITS = {
    "scorecard_100k_6_arms_cpu_seconds": 3.0,
    "scorecard_100k_100x1000_cpu_seconds": 3.0,
    "scorecard_100k_10x10000_cpu_seconds": 3.0,
    "comparisons_10k_6_arms_cpu_seconds": 2.0,
    "survey_wilson_mean_miss": 0.04,
    "survey_wilson_worst_miss": 0.13,
    "these_tasks_mean_miss": 0.03,
    "paired_worst_miss": 0.09,
    "headline_averages_off": 0.02,
    "headline_worst_off": 0.06,
}
# What the choice of intervals was made on: coverage on average and at worst.
HEADLINES = {
    "survey_wilson": (0.966, 0.904),
    "pooled_wilson": (0.786, 0.430),
    "cluster_t": (0.809, 0.333),
    "task_bootstrap": (0.797, 0.330),
    "these_tasks": (0.978, 0.955),
}
TASKS, ROUNDS, SHIFTS = 10, 400, (0.0, 0.05, 0.1, 0.3)
MEANS, BETWEEN, SIZES = (0.5, 0.7, 0.9, 0.97), (0.1, 0.2, 0.5, 0.8), (3, 5, 10)
ARMS = [
    (h, m, p + e)
    for h, p in (("alder", 0.85), ("birch", 0.75), ("cedar", 0.55))
    for m, e in (("l", 0.05), ("s", -0.05))
]
SCORECARD = """
import sys
from fairtrial.analysis import columns, dataset_tables, scorecard
scorecard.build(dataset_tables.frame(sys.argv[1], columns.WANTED), None, {"k": [1, 3, 5]})
"""
COMPARISONS = """
import sys
from fairtrial.analysis import columns, compare, dataset_tables
compare.all_pairs(dataset_tables.frame(sys.argv[1], columns.WANTED))
"""
Floats = NDArray[np.float64]


def measure() -> dict[str, float]:
    """CPU seconds of whole processes, imports and reading included; misses as shares."""
    return {**_speed(), **_single(), **_pairs()}


def _speed() -> dict[str, float]:
    return {
        "scorecard_100k_6_arms_cpu_seconds": _cpu(SCORECARD, 100_000, 100, 6),
        "scorecard_100k_100x1000_cpu_seconds": _cpu(SCORECARD, 100_000, 100, 1),
        "scorecard_100k_10x10000_cpu_seconds": _cpu(SCORECARD, 100_000, 10, 1),
        "comparisons_10k_6_arms_cpu_seconds": _cpu(COMPARISONS, 10_000, 35, 6),
    }


def _cpu(code: str, attempts: int, tasks: int, arms: int) -> float:
    import pyarrow as pa

    frame = attempt_frames.many(attempts, tasks, ARMS[:arms], changed_lines=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "attempts.parquet"
        plain = dataset_tables.arrow_schema("attempts", plain=True)
        dataset_tables.write("attempts", pa.Table.from_pandas(frame, preserve_index=False).cast(plain), path)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # one thread of arithmetic: idle ones spin and count as CPU time
        subprocess.run(
            [sys.executable, "-c", code, str(path)], check=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def _chances(rng: np.random.Generator, mean: float, between: float) -> Floats:
    """Chances to pass of the tasks of every round, shape (ROUNDS, TASKS)."""
    size = 1 / between - 1
    return rng.beta(mean * size, (1 - mean) * size, (ROUNDS, TASKS))


def _single() -> dict[str, float]:
    """How often each 95 % interval misses the mean of all tasks like these, or of exactly these tasks."""
    rng = np.random.default_rng(7)
    missed: dict[str, list[float]] = {}
    zero = 0.0
    for mean, between, n in product(MEANS, BETWEEN, SIZES):
        chances = _chances(rng, mean, between)
        passes = rng.binomial(n, chances)
        found: dict[str, int] = {}
        for chance, c in zip(chances, passes, strict=True):
            for name, (low, high), truth in _intervals(c, n, mean, float(chance.mean())):
                found[name] = found.get(name, 0) + int(not low <= truth <= high)
        for name, count in found.items():
            missed.setdefault(name, []).append(count / ROUNDS)
        zero = max(zero, float((np.ptp(passes, axis=1) == 0).mean()))
    figures = {f"{name}_{kind}_miss": float(value) for name, shares in missed.items()
               for kind, value in (("mean", np.mean(shares)), ("worst", np.max(shares)))}  # fmt: skip
    off = {kind: max(abs(1 - figures[f"{name}_{kind}_miss"] - pair[at]) for name, pair in HEADLINES.items())
           for at, kind in enumerate(("mean", "worst"))}  # fmt: skip
    return {**figures, "task_bootstrap_zero_width_worst": zero,
            "headline_averages_off": off["mean"], "headline_worst_off": off["worst"]}  # fmt: skip


def _intervals(c: Floats, n: int, mean: float, these: float) -> Iterator[tuple[str, tuple[float, float], float]]:
    tries = np.full(TASKS, n)
    pooled = rates.wilson(float(c.sum()), float(tries.sum()))
    assert pooled is not None
    yield "these_tasks", pooled, these
    yield "pooled_wilson", pooled, mean
    others = (("survey_wilson", rates.survey_wilson(c, tries)), ("cluster_t", rates.cluster_t(c, tries)),
              ("task_bootstrap", rates.task_bootstrap(c, tries, draws=100)))  # fmt: skip
    for name, interval in others:
        assert interval is not None
        yield name, interval, mean


def _pairs() -> dict[str, float]:
    """Worst and least miss of paired intervals; three tasks in ten answer differently to b."""
    rng = np.random.default_rng(8)
    ours, plain, strapped, flips = [], [], [], []
    for mean, between, n, shift in product(MEANS, BETWEEN, SIZES, SHIFTS):
        first = _chances(rng, mean, between)
        fresh = rng.random(first.shape) < 0.3
        second = np.where(fresh, _chances(rng, mean - shift, between), first * (mean - shift) / mean)
        differences = rng.binomial(n, first) / n - rng.binomial(n, second) / n
        found = [(paired.pseudo_task_interval(d, n), paired.paired_t(d)) for d in differences]
        ours.append(np.mean([a is None or not a.low <= shift <= a.high for a, _ in found]))
        plain.append(np.mean([b is None or not b.low - 1e-12 <= shift <= b.high + 1e-12 for _, b in found]))
        drawn = [paired.paired_bootstrap(d, draws=200) for d in differences[:200]]
        strapped.append(np.mean([b is None or not b[0] - 1e-12 <= shift <= b[1] + 1e-12 for b in drawn]))
        if shift == 0:
            p = [paired.sign_flip(d).p for d in differences[:50]]
            flips.append(np.mean([x is not None and x <= 0.05 for x in p]))
    return {
        "paired_worst_miss": float(max(ours)),
        "paired_least_miss": float(min(ours)),
        "paired_bootstrap_worst_miss": float(max(strapped)),
        "plain_paired_t_worst_miss": float(max(plain)),
        "sign_flip_false_alarms_mean": float(np.mean(flips)),
    }
