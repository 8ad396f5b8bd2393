"""Durations."""

SECONDS = {"d": 86400, "h": 3600, "min": 60, "s": 1}


def to_seconds(amount, unit):
    """An amount of some unit of time in seconds; a day has 24 hours.

    Example: to_seconds(2, "h") -> 7200
    """
    if unit not in SECONDS:
        raise ValueError(f"unknown unit of time: {unit}")
    if amount < 0:
        raise ValueError(f"negative duration: {amount}")
    return amount * SECONDS[unit]
