"""Reading and writing CSV tables."""

import csv
import io
import sys
from dataclasses import dataclass


class TallyError(Exception):
    """Something the user can put right; the message is one line."""


@dataclass
class Table:
    """A header and rows of text cells, every row as long as the header."""

    header: list[str]
    rows: list[list[str]]

    def index(self, column: str) -> int:
        """Position of a column, by its name."""
        if column not in self.header:
            known = ", ".join(self.header)
            raise TallyError(f"no column {column!r} (columns: {known})")
        return self.header.index(column)

    def cells(self, column: str) -> list[str]:
        """All cells of one column, top to bottom."""
        position = self.index(column)
        return [row[position] for row in self.rows]


def read_text(path: str) -> str:
    """The file's text; `-` reads standard input."""
    try:
        if path == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig")
        with open(path, encoding="utf-8-sig", newline="") as stream:
            return stream.read()
    except OSError as error:
        raise TallyError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TallyError(f"cannot read {path}: not UTF-8") from None


def read_table(path: str, delimiter: str = ",") -> Table:
    """Parse a CSV file. Blank lines are skipped, short rows are padded, long rows are errors."""
    reader = csv.reader(io.StringIO(read_text(path), newline=""), delimiter=delimiter)
    header: list[str] | None = None
    rows: list[list[str]] = []
    for row in reader:
        if not row:
            continue
        if header is None:
            header = [name.strip() for name in row]
            continue
        if len(row) > len(header):
            raise TallyError(f"line {reader.line_num}: {len(row)} cells, the header has {len(header)}")
        rows.append(row + [""] * (len(header) - len(row)))
    if header is None:
        raise TallyError(f"{path} is empty")
    return Table(header, rows)


def write_rows(rows: list[list[str]], delimiter: str = ",") -> None:
    """Print rows as CSV, quoted where needed."""
    csv.writer(sys.stdout, delimiter=delimiter, lineterminator="\n").writerows(rows)
