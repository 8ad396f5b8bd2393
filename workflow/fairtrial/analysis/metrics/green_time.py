"""How long until green. An attempt that gave up is never green: its time is the budget, its event 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns
from fairtrial.analysis.stats import survival

if TYPE_CHECKING:
    import pandas as pd

GROUP = "time_cost"
PLACE = 1
COLUMNS = {
    "median_seconds_to_green": "smallest time by which half of all scored attempts are green; null: not within budget",
    "mean_seconds_to_green": "mean seconds to green, a failed attempt counted at its budget (restricted mean)",
    "mean_seconds_to_green_se": "standard error of that mean, attempts as independent",
    "budget_seconds": "largest wall-clock budget of a scored attempt",
    "first_green_upper_median": "median over green attempts of the first snapshot that was already green, seconds",
    "went_red_again": "scored attempts that were green and left that state again",
    "first_green_known": "green attempts whose first green moment is known",
}


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Seconds. A never-green attempt stays on the curve to its end and counts at its own budget in the mean; without a
    budget (imported results) the mean is not measured: giving up early would make it small."""
    seconds, green = columns.numbers(attempts, "seconds_to_green"), columns.green_rows(attempts)
    budget = columns.numbers(attempts, "wall_budget_seconds")
    time, event = survival.never_green(seconds, green, np.full(budget.size, np.inf))
    capped, _ = survival.never_green(seconds, green, budget)
    known = budget.size > 0 and not np.isnan(capped).any()
    same = known and np.ptp(budget) == 0
    mean = survival.restricted_mean(capped, event, float(budget[0])) if same else None
    first = columns.numbers(attempts, "first_green_upper_seconds")[green]
    first = first[~np.isnan(first)]
    again = columns.numbers(attempts, "went_red_again")
    return {
        "median_seconds_to_green": survival.km_median(time, event) if budget.size else None,
        "mean_seconds_to_green": float(np.fmin(capped, budget).mean()) if known else None,
        "mean_seconds_to_green_se": mean.se if mean else None,
        "budget_seconds": None if np.isnan(budget).all() else float(np.nanmax(budget)),
        "first_green_upper_median": float(np.median(first)) if first.size else None,
        "went_red_again": int((again == 1).sum()) if not np.isnan(again).all() else None,
        "first_green_known": int(first.size),
    }
