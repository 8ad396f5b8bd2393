"""Were the rules kept; "not checked" is null and never "kept"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns

if TYPE_CHECKING:
    import pandas as pd

GROUP = "compliance"
COLUMNS = {
    "violations": "observed violations, summed over scored attempts where they were looked for",
    "attempts_with_violations": "scored attempts with a violation",
    "violations_checked": "scored attempts where violations were looked for",
    "policy_refusals": "commands the version-control policy refused, summed",
    "foreign_requests": "model requests that did not come from the agent program's main process, summed",
    "foreign_requests_checked": "scored attempts whose requests were seen",
    "protected_kept": "scored attempts that left protected files as they were",
    "protected_checked": "scored attempts where protected files were compared",
    "acceptance_untouched": "scored attempts that left the acceptance files alone",
    "acceptance_checked": "scored attempts where the acceptance files were compared",
}


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Counts; null where nothing was checked."""
    violations, foreign = columns.numbers(attempts, "violations"), columns.numbers(attempts, "foreign_requests")
    protected, untouched = (columns.numbers(attempts, n) for n in ("protected_ok", "acceptance_untouched"))
    return {
        "violations": _sum(violations),
        "attempts_with_violations": _sum(np.where(np.isnan(violations), np.nan, violations > 0)),
        "violations_checked": _known(violations),
        "policy_refusals": _sum(columns.numbers(attempts, "policy_refusals")),
        "foreign_requests": _sum(foreign),
        "foreign_requests_checked": _known(foreign),
        "protected_kept": _sum(protected),
        "protected_checked": _known(protected),
        "acceptance_untouched": _sum(untouched),
        "acceptance_checked": _known(untouched),
    }


def _known(values: Any) -> int:
    return int((~np.isnan(values)).sum())


def _sum(values: Any) -> int | None:
    return int(np.nansum(values)) if _known(values) else None
