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
    """Seconds. Never-green attempts stay at the largest budget on the curve and at their own in the mean."""
    seconds, green = columns.numbers(attempts, "seconds_to_green"), columns.green_rows(attempts)
    budget = _budget(attempts)
    tau = float(budget.max()) if budget.size else None
    time, event = survival.never_green(seconds, green, np.full(budget.size, tau or 0.0))
    capped, _ = survival.never_green(seconds, green, budget)
    mean = survival.restricted_mean(capped, event, tau) if tau else None
    first = columns.numbers(attempts, "first_green_upper_seconds")[green]
    first = first[~np.isnan(first)]
    again = columns.numbers(attempts, "went_red_again")
    return {
        "median_seconds_to_green": survival.km_median(time, event) if budget.size else None,
        "mean_seconds_to_green": float(np.minimum(capped, budget).mean()) if budget.size else None,
        "mean_seconds_to_green_se": mean.se if mean and np.ptp(budget) == 0 else None,
        "budget_seconds": tau,
        "first_green_upper_median": float(np.median(first)) if first.size else None,
        "went_red_again": int((again == 1).sum()) if not np.isnan(again).all() else None,
        "first_green_known": int(first.size),
    }


def _budget(attempts: pd.DataFrame) -> Any:
    """Budget per attempt; where none is recorded, the longest time seen stands in."""
    budget = columns.numbers(attempts, "wall_budget_seconds")
    seen = np.fmax(columns.numbers(attempts, "agent_seconds"), columns.numbers(attempts, "seconds_to_green"))
    longest = np.nanmax(seen) if (~np.isnan(seen)).any() else 0.0
    return np.where(np.isnan(budget), longest, budget)
