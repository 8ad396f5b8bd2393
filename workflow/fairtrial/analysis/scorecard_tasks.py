"""The scorecard's rows per arm and task, computed for all cells at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fairtrial.analysis import columns
from fairtrial.analysis.arms import Arm, Json
from fairtrial.analysis.stats import rates, repeats, survival

Floats = NDArray[np.float64]
STATES = {"done": "done", "faults": "fault", "not_run": "not_run", "excluded": "excluded", "problems": "problem"}


def rows(frame: pd.DataFrame, arms: Sequence[Arm], k: Sequence[int]) -> list[Json]:
    """One row per arm and task of the plan (shape in scorecard.py); sorted by arm, then task."""
    if not arms:
        return []
    arm = np.repeat(np.arange(len(arms)), [len(one.rows) for one in arms])
    task, names = columns.task_codes(frame)
    cells, first, cell = np.unique(arm * len(names) + task, return_index=True, return_inverse=True)
    table = _figures(frame, cell.reshape(-1), cells.size, k)
    table |= {name: _text(frame, name, first) for name in ("suite", "task", "language")}
    lists = {name: _listed(values) for name, values in table.items()}
    keys = list(lists)
    found = []
    for row, values in zip(arm[first], zip(*lists.values(), strict=True), strict=True):
        one = arms[row]
        identity = {"arm": one.name, "simulated": one.simulated, "compared": one.compared}
        found.append(_nested(identity | dict(zip(keys, values, strict=True)), k))
    return found


def _figures(frame: pd.DataFrame, cell: Any, size: int, k: Sequence[int]) -> dict[str, Any]:
    """Every column, arrays of shape (cells,); NaN is null."""
    scored = columns.scored_rows(frame)
    n = np.bincount(cell[scored], minlength=size)
    states = {name: np.bincount(cell[columns.equals(frame, "status", state)], minlength=size)
              for name, state in STATES.items()}  # fmt: skip
    part, at = columns.only(frame, scored), cell[scored]
    green = columns.green_rows(part)
    passes = np.bincount(at, green, minlength=size).astype(np.int64)
    low, high = rates.wilson_arrays(rates.task_rates(passes, n), n, rates.normal_quantile(0.95))
    return {
        "planned": np.bincount(cell, minlength=size), "scored": n, "unscored": states["done"] - n, **states,
        "passes": passes, "pass_rate": rates.task_rates(passes, n), "these_low": low, "these_high": high,
        **{f"pass_at_{i}": repeats.pass_at_k(n, passes, i) for i in k},
        **{f"pass_hat_{i}": repeats.pass_hat_k(n, passes, i) for i in k},
        "flip_rate": repeats.flip_rate(n, passes),
        **_times(part, green, at, n), **_costs(part, green, at, size),
        "cv_cost": repeats.cv_per_task(columns.numbers(part, "cost_usd"), at, size),
        "cv_tokens": repeats.cv_per_task(columns.tokens(part), at, size),
        "cv_seconds": repeats.cv_per_task(columns.numbers(part, "agent_seconds"), at, size),
    }  # fmt: skip


def _times(part: pd.DataFrame, green: Any, at: Any, n: Any) -> dict[str, Floats]:
    """Median and mean seconds to green; a failed attempt counts at its budget."""
    seconds, budget = columns.numbers(part, "seconds_to_green"), columns.numbers(part, "wall_budget_seconds")
    time, event = survival.never_green(seconds, green, budget)
    mean = np.bincount(at, np.minimum(time, np.where(np.isnan(budget), time, budget)), minlength=n.size)
    order = np.lexsort((time[event], at[event]))
    sorted_time, greens = time[event][order], np.bincount(at[event], minlength=n.size)
    start, half = np.cumsum(greens) - greens, (n + 1) // 2
    reached = (n > 0) & (greens >= half)
    median = np.full(n.size, np.nan)
    median[reached] = sorted_time[(start + half - 1)[reached]]
    return {"median_seconds_to_green": median, "mean_seconds_to_green": mean / np.where(n > 0, n, np.nan)}


def _costs(part: pd.DataFrame, green: Any, at: Any, size: int) -> dict[str, Any]:
    cost = columns.numbers(part, "cost_usd")
    known = ~np.isnan(cost)
    paid = np.bincount(at[known], cost[known], minlength=size)
    passes = np.bincount(at[known], green[known], minlength=size)
    return {
        "cost_per_success_usd": paid / np.where(passes > 0, passes, np.nan),
        "cost_known": np.bincount(at[known], minlength=size),
    }


def _text(frame: pd.DataFrame, name: str, first: Any) -> list[str | None]:
    codes, labels = columns.coded(frame, name)
    return [labels[code] if code >= 0 else None for code in codes[first]]


def _listed(values: Any) -> list[Any]:
    """Python numbers with None for NaN."""
    if isinstance(values, list):
        return values
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [None if x != x else x for x in values.tolist()]  # noqa: PLR0124


def _nested(row: Json, k: Sequence[int]) -> Json:
    row["pass_at_k"] = {str(i): row.pop(f"pass_at_{i}") for i in k}
    row["pass_hat_k"] = {str(i): row.pop(f"pass_hat_{i}") for i in k}
    return row
