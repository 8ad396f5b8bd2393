"""How much work a green attempt took. Only green attempts: giving up early is not efficient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns

if TYPE_CHECKING:
    import pandas as pd

GROUP = "effort"
_COUNTED = {
    "vc_reads": "version-control commands that only read",
    "vc_writes": "version-control commands that change something",
    "vc_errors": "version-control commands that ended with a status other than zero, expected probes included",
    "tool_calls": "tool calls in the transcript",
    "parser_calls": "pipelines that hand version-control output to grep, sed, awk and the like (a heuristic)",
    "repeated_reads": "reading version-control commands that repeat the tool call just before (a heuristic)",
    "selector_failures": "version-control commands that named something that is not there (a heuristic)",
    "vc_output_bytes": "bytes printed by version-control commands",
    "tool_output_bytes": "bytes returned by tools",
    "skill_reads": "reads of the tool's skill files",
    "commands": "traced commands",
    "files_changed": "files changed",
    "lines_added": "lines added",
    "lines_removed": "lines removed",
    "turns": "turns",
    "requests": "model requests",
}
COLUMNS = {
    f"green_{name}": f"{what}; mean of green attempts per task, mean over tasks" for name, what in _COUNTED.items()
}
COLUMNS["green_attempts"] = "green attempts the effort columns rest on"
COLUMNS["green_tasks"] = "tasks with a green attempt"


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Mean over tasks of the task's mean; attempts that do not say are left out, null when none says."""
    green = columns.only(attempts, columns.green_rows(attempts))
    code, names = columns.task_codes(green)
    found: dict[str, Any] = {"green_attempts": len(green), "green_tasks": len(names)}
    for name in _COUNTED:
        values = columns.numbers(green, name)
        known = ~np.isnan(values)
        size = np.bincount(code[known], minlength=len(names))
        total = np.bincount(code[known], values[known], minlength=len(names))
        found[f"green_{name}"] = float((total[size > 0] / size[size > 0]).mean()) if known.any() else None
    return found
