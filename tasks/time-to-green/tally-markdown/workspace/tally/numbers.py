"""Numbers: from cells, and back to text."""

import re

from tally.table import TallyError

PLAIN = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")


def parse_number(cell: str) -> int | float:
    """The number in a cell; white space around it is ignored."""
    text = cell.strip()
    if not PLAIN.fullmatch(text):
        raise TallyError(f"not a number: {cell!r}")
    return float(text) if "." in text else int(text)


def parse_column(cells: list[str]) -> list[int | float]:
    """The numbers of a column; empty cells are left out."""
    return [parse_number(cell) for cell in cells if cell.strip()]


def format_number(value: int | float) -> str:
    """Whole numbers as they are, others with at most two decimals."""
    if isinstance(value, int):
        return str(value)
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def median(values: list[int | float]) -> int | float:
    """Middle value; of an even number of values, the mean of the middle two."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
