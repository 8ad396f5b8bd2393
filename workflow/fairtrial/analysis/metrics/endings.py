"""How attempts ended, and how whole their streams were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns

if TYPE_CHECKING:
    import pandas as pd

GROUP = "execution"
COLUMNS = {
    "completed": "scored attempts that ended by themselves",
    "timeouts": "scored attempts stopped at the wall-clock budget",
    "over_budget": "scored attempts stopped at a turn, token or dollar cap",
    "agent_errors": "scored attempts whose agent broke off",
    "without_terminal_event": "scored attempts whose stream has no final event (tokens are a lower bound)",
    "malformed_lines": "stream lines that could not be read, summed over scored attempts",
    "errors": "errors in the stream, summed over scored attempts",
    "warnings": "warnings in the stream (recovered errors), summed over scored attempts",
    "lingering": "scored attempts whose process had to be stopped after its final event",
}


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Counts of attempts and of stream lines."""
    endings = {name: int(columns.equals(attempts, "ending", ending).sum())
               for name, ending in (("completed", "completed"), ("timeouts", "timeout"),
                                    ("over_budget", "budget"), ("agent_errors", "agent_error"))}  # fmt: skip
    terminal = columns.numbers(attempts, "terminal_event")
    return {
        **endings,
        "without_terminal_event": int((terminal == 0).sum()) if not np.isnan(terminal).all() else None,
        "malformed_lines": _total(attempts, "malformed_lines"),
        "errors": _total(attempts, "errors"),
        "warnings": _total(attempts, "warnings"),
        "lingering": _total(attempts, "lingered"),
    }


def _total(attempts: pd.DataFrame, name: str) -> int | None:
    """Sum of the known values; None when none is known."""
    values = columns.numbers(attempts, name)
    known = values[~np.isnan(values)]
    return int(known.sum()) if known.size else None
