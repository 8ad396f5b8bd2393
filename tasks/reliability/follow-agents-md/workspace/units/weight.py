"""Weights."""

from units.errors import UnitError
from units.tables import GRAMS


def to_grams(amount, unit):
    """An amount of some unit of weight in grams.

    Example: to_grams(2, "kg") -> 2000.0
    """
    if unit not in GRAMS:
        raise UnitError(f"unknown unit of weight: {unit}")
    return amount * GRAMS[unit]
