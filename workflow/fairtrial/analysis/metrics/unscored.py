"""What the pass rate would be if every unscored attempt had failed, and if every one had passed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns
from fairtrial.analysis.stats import rates

if TYPE_CHECKING:
    import pandas as pd

GROUP = "correctness"
PLACE = 2
COLUMNS = {
    "if_unscored_failed": "pass rate if every unscored attempt had failed",
    "if_unscored_passed": "pass rate if every unscored attempt had passed",
}


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """`settings["unscored"]` maps a task to its unscored attempts; tasks with nothing scored count as well."""
    passes, tries, names = columns.pass_counts(attempts)
    unscored = dict(settings.get("unscored", {}))
    missing = [unscored.pop(name, 0) for name in names]
    extra = [count for count in unscored.values() if count > 0]
    zeros = np.zeros(len(extra))
    bounds = rates.bounds_with_unscored(
        np.concatenate((passes, zeros)), np.concatenate((tries, zeros)), np.array([*missing, *extra], dtype=float)
    ) or (None, None)
    return {"if_unscored_failed": bounds[0], "if_unscored_passed": bounds[1]}
