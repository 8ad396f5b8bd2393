"""The one error of this package."""


class UnitError(Exception):
    """A unit or an amount that cannot be converted."""
