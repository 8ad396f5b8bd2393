"""What happens when the same task is given again: pass@k, pass^k, flips, flaky tasks, variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairtrial.analysis import columns
from fairtrial.analysis.stats import repeats

if TYPE_CHECKING:
    import pandas as pd

GROUP = "correctness"
PLACE = 3
COLUMNS = {
    "pass_at_k": "chance that at least one of k attempts passes, mean over tasks with k scored attempts or more",
    "pass_hat_k": "chance that all of k attempts pass (pass^k), mean over tasks with k scored attempts or more",
    "flip_rate": "chance that two attempts of a task disagree, mean over tasks with two attempts or more",
    "flaky_tasks": "tasks where some attempts pass and some do not",
    "flaky_share": "flaky tasks over tasks with two attempts or more",
    "variance_within": "variance of a pass within tasks",
    "variance_between": "variance of the pass rate between tasks; a negative estimate is cut at 0",
    "variance_between_raw": "the same before it is cut",
    "intraclass": "share of the variance that lies between tasks",
}


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """k above a task's attempts: null for that task, and the number of tasks that allow k is given."""
    passes, tries, names = columns.pass_counts(attempts)
    by_k: dict[str, dict[str, Any]] = {"pass_at_k": {}, "pass_hat_k": {}}
    for k in settings.get("k", [1]):
        some, every = repeats.mean_pass_at_k(tries, passes, k), repeats.mean_pass_hat_k(tries, passes, k)
        by_k["pass_at_k"][str(k)] = {"value": some.value, "tasks": some.tasks, "of": len(names)}
        by_k["pass_hat_k"][str(k)] = {"value": every.value, "tasks": every.tasks, "of": len(names)}
    flips, flaky = repeats.mean_flip_rate(tries, passes), repeats.flaky_share(tries, passes)
    parts = repeats.variance_components(tries, passes)
    return {
        **by_k,
        "flip_rate": flips.value,
        "flaky_tasks": round(flaky.value * flaky.tasks) if flaky.value is not None else None,
        "flaky_share": flaky.value,
        "variance_within": parts.within if parts else None,
        "variance_between": parts.between if parts else None,
        "variance_between_raw": parts.between_raw if parts else None,
        "intraclass": parts.icc if parts else None,
    }
