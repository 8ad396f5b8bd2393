"""Conversion between units."""

from units.errors import UnitError
from units.length import to_metres
from units.weight import to_grams
from units.duration import to_seconds

__all__ = ["UnitError", "to_grams", "to_metres", "to_seconds"]
