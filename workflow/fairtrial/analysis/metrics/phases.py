"""Where the time of green attempts goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial.analysis import columns

if TYPE_CHECKING:
    import pandas as pd

GROUP = "time_cost"
_PHASES = {
    "agent_seconds": "wall time of the agent",
    "first_command_seconds": "time to the first task command",
    "first_mutation_seconds": "time to the first successful version-control change",
    "first_acceptance_green_seconds": "time until the visible green command first passed, by replay",
    "vc_summed_seconds": "time of version-control commands, added up",
    "vc_occupied_seconds": "time during which some version-control command ran",
    "api_seconds": "time spent waiting for the model",
    "verifier_seconds": "time of the verifier (not the agent's)",
}
COLUMNS = {f"green_{name}": f"{what}; seconds, median over green attempts that say" for name, what in _PHASES.items()}


def compute(attempts: pd.DataFrame, settings: dict[str, Any]) -> dict[str, Any]:
    """Medians in seconds; null when no green attempt says."""
    green = columns.only(attempts, columns.green_rows(attempts))
    found: dict[str, Any] = {}
    for name in _PHASES:
        values = columns.numbers(green, name)
        values = values[~np.isnan(values)]
        found[f"green_{name}"] = float(np.median(values)) if values.size else None
    return found
