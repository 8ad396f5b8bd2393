"""Rows as a Markdown table."""

from tally.numbers import parse_number
from tally.table import TallyError


def print_markdown(rows: list[list[str]]) -> None:
    """Print a header and its rows as a Markdown table, numeric columns to the right."""
    header, *body = [[cell.strip() for cell in row] for row in rows]
    marks = ["---:" if numeric([row[at] for row in body]) else "---" for at in range(len(header))]
    for line in (list(map(escaped, header)), marks, *(list(map(escaped, row)) for row in body)):
        print("| " + " | ".join(line) + " |")


def escaped(cell: str) -> str:
    """A cell that cannot end its column or its line."""
    return cell.replace("|", "\\|").replace("\r\n", "\n").replace("\n", "<br>").replace("\r", "<br>")


def numeric(cells: list[str]) -> bool:
    """Whether there are numbers and nothing else."""
    filled = [cell for cell in cells if cell]
    try:
        return [float(cell) for cell in filled] is not None
    except ValueError:
        return False
