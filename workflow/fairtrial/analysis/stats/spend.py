"""Money per success. Unit: the attempt with a known cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def cost_per_success(cost: ArrayLike, passed: ArrayLike) -> float | None:
    """Total cost over passes, both over attempts whose cost is known; US dollars in, US dollars out.

    `cost` (attempts,) with NaN unknown, `passed` (attempts,) 0/1. None without a pass of known cost.
    """
    known = ~np.isnan(np.asarray(cost, dtype=float))
    passes = float(np.asarray(passed, dtype=float)[known].sum())
    return float(np.asarray(cost, dtype=float)[known].sum()) / passes if passes > 0 else None
