"""Whether passing attempts change the same lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns
from fairtrial.analysis.stats import repeats

if TYPE_CHECKING:
    import pandas as pd

GROUP = "correctness"
ARM_ONLY = True
COLUMNS = {
    "approach_similarity": "mean pairwise Jaccard index of changed lines among passing attempts, mean over tasks",
    "similarity_tasks": "tasks with two passing attempts or more whose changes are known",
    "empty_changes": "pairs of passing attempts that both changed nothing; left out, and a finding",
}


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Equal changes are read once: at a thousand repetitions most are."""
    green = columns.only(attempts, columns.green_rows(attempts))
    code, names = columns.task_codes(green)
    change, labels = columns.coded(green, "changed_lines")
    known = change >= 0
    sets = {int(i): frozenset(json.loads(labels[i])) for i in np.unique(change[known])}
    found = [
        repeats.approach_similarity([sets[int(i)] for i in change[(code == task) & known]])
        for task in (range(len(names)) if sets else ())
    ]
    values = [one.value for one in found if one.value is not None]
    return {
        "approach_similarity": float(np.mean(values)) if values else None,
        "similarity_tasks": len(values),
        "empty_changes": sum(one.empty_pairs for one in found),
    }
