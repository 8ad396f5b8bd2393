"""Durations."""

from units.errors import UnitError

SECONDS = {"d": 86400, "h": 3600, "min": 60, "s": 1}


def to_seconds(amount, unit):
    """Convert to seconds."""
    if unit not in SECONDS:
        raise UnitError(f"unknown unit of time: {unit}")
    if amount < 0:
        raise UnitError(f"negative duration: {amount}")
    return amount * SECONDS[unit]
