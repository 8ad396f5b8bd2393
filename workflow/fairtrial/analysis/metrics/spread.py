"""How much a rerun varies: within-task coefficients of variation, over all scored attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.analysis import columns
from fairtrial.analysis.stats import repeats

if TYPE_CHECKING:
    import pandas as pd

GROUP = "time_cost"
COLUMNS = {
    "cv_cost": "sd / mean of cost within a task, mean over tasks with two known values or more",
    "cv_tokens": "the same of tokens",
    "cv_seconds": "the same of the agent's wall time",
    "cv_cost_tasks": "tasks that column rests on",
    "cv_tokens_tasks": "tasks that column rests on",
    "cv_seconds_tasks": "tasks that column rests on",
}


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Fractions of the mean; null when no task has two known values."""
    code, names = columns.task_codes(attempts)
    values = {
        "cost": columns.numbers(attempts, "cost_usd"),
        "tokens": columns.tokens(attempts),
        "seconds": columns.numbers(attempts, "agent_seconds"),
    }
    found: dict[str, Any] = {}
    for name, column in values.items():
        mean = repeats.mean_cv(column, code, len(names))
        found |= {f"cv_{name}": mean.value, f"cv_{name}_tasks": mean.tasks}
    return found
