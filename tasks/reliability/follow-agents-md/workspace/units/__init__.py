"""Conversion between units."""

from units.errors import UnitError
from units.length import to_metres
from units.weight import to_grams

__all__ = ["UnitError", "to_grams", "to_metres"]
