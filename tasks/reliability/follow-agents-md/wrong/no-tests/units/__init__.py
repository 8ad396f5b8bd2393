"""Conversion between units."""

from units.duration import to_seconds
from units.errors import UnitError
from units.length import to_metres
from units.weight import to_grams

__all__ = ["UnitError", "to_grams", "to_metres", "to_seconds"]
