"""How often an arm passes: the mean over tasks, the pooled rate, and both intervals side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns
from fairtrial.analysis.stats import rates

if TYPE_CHECKING:
    import pandas as pd

GROUP = "correctness"
PLACE = 1
COLUMNS = {
    "tasks": "tasks with a scored attempt",
    "passes": "scored attempts with outcome green",
    "pass_rate": "mean over tasks of passes / scored attempts; the headline",
    "pass_rate_pooled": "all passes / all scored attempts",
    "these_low": "lower 95 % bound on exactly these tasks (pooled Wilson)",
    "these_high": "upper 95 % bound on exactly these tasks (pooled Wilson)",
    "like_low": "lower 95 % bound for tasks like these (survey Wilson); null below 5 tasks",
    "like_high": "upper 95 % bound for tasks like these (survey Wilson); null below 5 tasks",
    "effective_attempts": "independent attempts that would give the same task-level error",
    "bootstrap_low": "task bootstrap, lower 95 % bound; not for headlines: too narrow near 0 and 1",
    "bootstrap_high": "task bootstrap, upper 95 % bound; not for headlines: too narrow near 0 and 1",
    "checks_rate": "mean over tasks of the share whose verifier passed, whatever the ending",
}
DRAWS = 2000


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Rates in 0..1; nulls when there is no scored attempt."""
    passes, tries, _ = columns.pass_counts(attempts)
    level = settings.get("level", 0.95)
    these = rates.wilson(float(passes.sum()), float(tries.sum()), level) or (None, None)
    like = rates.survey_wilson(passes, tries, level) or (None, None)
    bootstrap = rates.task_bootstrap(passes, tries, DRAWS, settings.get("seed", 0), level) or (None, None)
    return {
        "tasks": int(tries.size),
        "passes": int(passes.sum()),
        "pass_rate": rates.pass_rate(passes, tries),
        "pass_rate_pooled": rates.pooled_rate(passes, tries),
        "these_low": these[0],
        "these_high": these[1],
        "like_low": like[0],
        "like_high": like[1],
        "effective_attempts": rates.effective_size(passes, tries),
        "bootstrap_low": bootstrap[0],
        "bootstrap_high": bootstrap[1],
        "checks_rate": _checks_rate(attempts),
    }


def _checks_rate(attempts: pd.DataFrame) -> float | None:
    """The verifier-only pass rate over attempts where it came to a verdict."""
    code, names = columns.task_codes(attempts)
    passed = columns.numbers(attempts, "check_passed")
    known = ~np.isnan(passed)
    tries = np.bincount(code[known], minlength=len(names))
    return rates.pass_rate(np.bincount(code[known], passed[known], minlength=len(names)), tries)
