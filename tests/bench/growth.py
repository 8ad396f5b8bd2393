"""Bench: nothing grows faster than linearly from 1,000 attempts on; small enough for every CI (scale.py is the rest).

Fabricated results at 1,000 and 3,000 attempts: CPU seconds at 3,000 over three times those at 1,000.
"""

from __future__ import annotations

from tests.bench import scale

SMALL, LARGE = 1_000, 3_000
LIMITS: dict[str, float] = {f"{step}: CPU at {LARGE:,} over three times that at {SMALL:,}": 1.0 for step in scale.STEPS}


def measure() -> dict[str, float]:
    """Growth of each step; 1 is linear."""
    taken = scale.run((SMALL, LARGE), most=0)
    return {
        name: taken[LARGE][step].cpu / (LARGE / SMALL * taken[SMALL][step].cpu)
        for name, step in zip(LIMITS, scale.STEPS, strict=True)
    }
