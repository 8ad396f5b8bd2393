"""What a success costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns
from fairtrial.analysis.stats import spend

if TYPE_CHECKING:
    import pandas as pd

GROUP = "time_cost"
PLACE = 2
COLUMNS = {
    "cost_per_success_usd": "total cost / passes, both over scored attempts with a known cost; US dollars",
    "cost_known": "scored attempts with a known cost",
    "cost_known_share": "scored attempts with a known cost / scored attempts",
    "cost_known_usd": "total of the known costs of scored attempts, US dollars: a lower bound of what was spent",
    "green_cost_usd": "median cost of green attempts with a known cost, US dollars",
    "green_tokens": "median tokens of green attempts that say (input, cache and output)",
    "tokens_known": "scored attempts whose tokens are known in full",
}


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """US dollars and tokens; an unknown cost is never 0."""
    cost, green, tokens = columns.numbers(attempts, "cost_usd"), columns.green_rows(attempts), columns.tokens(attempts)
    known = ~np.isnan(cost)
    return {
        "cost_per_success_usd": spend.cost_per_success(cost, green),
        "cost_known": int(known.sum()),
        "cost_known_share": float(known.mean()) if known.size else None,
        "cost_known_usd": float(cost[known].sum()) if known.any() else None,
        "green_cost_usd": _median(cost[green]),
        "green_tokens": _median(tokens[green]),
        "tokens_known": int((~np.isnan(tokens)).sum()),
    }


def _median(values: Any) -> float | None:
    values = values[~np.isnan(values)]
    return float(np.median(values)) if values.size else None
