"""Named checks: milestones reached, minefields avoided, protected work kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns

if TYPE_CHECKING:
    import pandas as pd

GROUP = "correctness"
COLUMNS = {
    "checks_passed_share": "named checks passed / named checks, pooled over scored attempts",
    "minefields_passed_share": "minefield checks passed / minefield checks, pooled over scored attempts",
    "suspect": "scored attempts that failed because the verifier kept failing on them and works on the reference",
    "corrected": "scored attempts whose verdict comes from a corrected verifier",
}


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Shares in 0..1; null where no attempt has such a check."""
    return {
        "checks_passed_share": _share(attempts, "checks_passed", "checks_total"),
        "minefields_passed_share": _share(attempts, "minefields_passed", "minefields_total"),
        "suspect": int(columns.truths(attempts, "suspect").sum()),
        "corrected": int(columns.truths(attempts, "corrected").sum()),
    }


def _share(attempts: pd.DataFrame, passed: str, total: str) -> float | None:
    some, every = columns.numbers(attempts, passed), columns.numbers(attempts, total)
    known = ~np.isnan(some) & ~np.isnan(every)
    whole = float(every[known].sum())
    return float(some[known].sum()) / whole if whole > 0 else None
