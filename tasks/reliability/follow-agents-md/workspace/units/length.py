"""Lengths."""

from units.errors import UnitError
from units.tables import METRES


def to_metres(amount, unit):
    """An amount of some unit of length in metres.

    Example: to_metres(2, "km") -> 2000.0
    """
    if unit not in METRES:
        raise UnitError(f"unknown unit of length: {unit}")
    return amount * METRES[unit]
