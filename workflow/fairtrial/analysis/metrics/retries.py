"""What it takes to get one green by trying again, and whether giving up sooner would help."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns
from fairtrial.analysis.stats import retries

if TYPE_CHECKING:
    import pandas as pd

GROUP = "time_cost"
ARM_ONLY = True
COLUMNS = {
    "seconds_to_first_green": "expected seconds to the first green when every failure is tried again, mean over "
    "tasks that were ever green",
    "usd_to_first_green": "expected US dollars to the first green, mean over tasks with a green of known cost",
    "never_green_tasks": "tasks without a green attempt: no number of tries is known to be enough",
    "restart_saves_seconds": "seconds saved per first green by stopping at a cross-fitted cutoff; null unless the "
    "lower 95 % bound is above 0",
    "restart_saves_low": "lower 95 % bound of that saving; null where no task has four greens",
}


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """A try costs what it used: to its green, or until it gave up or was stopped."""
    code, names = columns.task_codes(attempts)
    green, cost = columns.green_rows(attempts), columns.numbers(attempts, "cost_usd")
    spent = _spent(attempts, green)
    timed, paid = ~np.isnan(spent), ~np.isnan(cost)
    greens = np.bincount(code, green, minlength=len(names))
    saving = retries.mean_saving(_savings(spent[timed], green[timed], code[timed]))
    shown = saving is not None and saving.low > 0
    return {
        "seconds_to_first_green": _per_green(spent[timed], green[timed], code[timed], len(names)),
        "usd_to_first_green": _per_green(cost[paid], green[paid], code[paid], len(names)),
        "never_green_tasks": int((greens == 0).sum()),
        "restart_saves_seconds": saving.seconds if saving and shown else None,
        "restart_saves_low": saving.low if saving and math.isfinite(saving.low) else None,
    }


def _spent(attempts: pd.DataFrame, green: Any) -> Any:
    seconds, used = columns.numbers(attempts, "seconds_to_green"), columns.numbers(attempts, "agent_seconds")
    used = np.where(np.isnan(used), columns.numbers(attempts, "wall_budget_seconds"), used)
    return np.where(green & ~np.isnan(seconds), seconds, used)


def _per_green(amount: Any, green: Any, code: Any, tasks: int) -> float | None:
    total, greens = np.bincount(code, amount, minlength=tasks), np.bincount(code, green, minlength=tasks)
    reached = greens > 0
    return float((total[reached] / greens[reached]).mean()) if reached.any() else None


def _savings(spent: Any, green: Any, code: Any) -> list[retries.Saving]:
    if not code.size:
        return []
    edges = np.flatnonzero(np.diff(code)) + 1  # rows come sorted by task
    parts = zip(np.split(spent, edges), np.split(green, edges), strict=True)
    found = [retries.crossfitted_saving(one, event) for one, event in parts]
    return [saving for saving in found if saving is not None]
