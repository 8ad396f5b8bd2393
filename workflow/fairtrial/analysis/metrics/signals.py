"""Process signals: how an agent came to its end. All heuristic: hints where to look, never part of a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns

if TYPE_CHECKING:
    import pandas as pd

GROUP = "effort"
COLUMNS = {
    "signal_green_unchecked": "green attempts whose agent never ran the visible green command (a heuristic)",
    "signal_blind_retries": "scored attempts that repeated a failing command at once, word for word (a heuristic)",
    "signal_after_green_seconds": "median over green attempts of the seconds worked after first green (a heuristic)",
    "signal_empty_diff_exit_0": "scored attempts that ended with status 0 and changed nothing (a heuristic)",
    "signal_early_stop": "scored attempts with a sign of stopping before the end (a heuristic)",
}


def _count(values: columns.Floats) -> int | None:
    """How many are 1 or more; None when nothing was captured."""
    return None if np.isnan(values).all() else int((values >= 1).sum())


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Counts of attempts, one median in seconds; an attempt that does not say is in no count, null when none says."""
    green = columns.green_rows(attempts)
    after = columns.numbers(attempts, "work_after_green_seconds")[green]
    after = after[~np.isnan(after)]
    return {
        "signal_green_unchecked": _count(1 - columns.numbers(attempts, "green_checked")[green]),
        "signal_blind_retries": _count(columns.numbers(attempts, "blind_retries")),
        "signal_after_green_seconds": float(np.median(after)) if after.size else None,
        "signal_empty_diff_exit_0": _count(columns.numbers(attempts, "empty_diff_exit_0")),
        "signal_early_stop": _count(_early(attempts)),
    }


def _early(attempts: pd.DataFrame) -> columns.Floats:
    """1 where a sign was seen, 0 where none was, NaN where it was not captured."""
    signs = columns.coded(attempts, "early_stop_signals")
    seen = np.array([float(label != "[]") for label in signs.labels] + [np.nan])  # the last stands for code -1
    return np.asarray(seen[signs.codes])
