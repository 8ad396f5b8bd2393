"""The command line: one function per subcommand."""

import argparse
import sys

from tally import __version__
from tally.conditions import matching
from tally.numbers import format_number, median, parse_column
from tally.table import TallyError, read_table, write_rows


def count(args: argparse.Namespace) -> None:
    """Number of rows, or of non-empty cells of a column."""
    table = read_table(args.file, args.delimiter)
    if args.column is None:
        print(len(table.rows))
    else:
        print(sum(1 for cell in table.cells(args.column) if cell.strip()))


def total(args: argparse.Namespace) -> None:
    """Sum of a column."""
    table = read_table(args.file, args.delimiter)
    print(format_number(sum(parse_column(table.cells(args.column)))))


def stats(args: argparse.Namespace) -> None:
    """Six figures about a column, one a line."""
    values = parse_column(read_table(args.file, args.delimiter).cells(args.column))
    print(f"count: {len(values)}")
    print(f"sum: {format_number(sum(values))}")
    for name, figure in (("min", min), ("max", max), ("mean", lambda v: sum(v) / len(v)), ("median", median)):
        print(f"{name}: {format_number(figure(values)) if values else '-'}")


def columns(args: argparse.Namespace) -> None:
    """Names of the columns, one a line."""
    for name in read_table(args.file, args.delimiter).header:
        print(name)


def head(args: argparse.Namespace) -> None:
    """The header and the first rows."""
    table = read_table(args.file, args.delimiter)
    write_rows([table.header, *table.rows[: args.rows]], args.delimiter)


def keep(args: argparse.Namespace) -> None:
    """The header and the rows for which all conditions hold."""
    table = read_table(args.file, args.delimiter)
    write_rows([table.header, *matching(table, args.conditions)], args.delimiter)


def unique(args: argparse.Namespace) -> None:
    """Each value of a column and how often it occurs, most frequent first."""
    seen: dict[str, int] = {}
    for cell in read_table(args.file, args.delimiter).cells(args.column):
        seen[cell] = seen.get(cell, 0) + 1
    for value, times in sorted(seen.items(), key=lambda item: (-item[1], item[0])):
        print(f"{times}\t{value}")


def natural(text: str) -> int:
    """A whole number, zero or more."""
    value = int(text)
    if value < 0:
        raise ValueError(text)
    return value


def build_parser() -> argparse.ArgumentParser:
    """All subcommands and their arguments."""
    parser = argparse.ArgumentParser(prog="tally", description="Small questions about CSV files.")
    parser.add_argument("--version", action="version", version=f"tally {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    source = argparse.ArgumentParser(add_help=False)
    source.add_argument("--delimiter", default=",", metavar="D", help="cell separator (default: a comma)")
    source.add_argument("file", metavar="FILE", help="a CSV file, or - for standard input")

    def command(name, action):
        added = commands.add_parser(name, parents=[source], help=action.__doc__)
        added.set_defaults(action=action)
        return added

    command("count", count).add_argument("--column", metavar="C", help="count its non-empty cells")
    command("sum", total).add_argument("column", metavar="COLUMN")
    command("stats", stats).add_argument("column", metavar="COLUMN")
    command("columns", columns)
    command("head", head).add_argument("-n", dest="rows", type=natural, default=10, metavar="N")
    command("filter", keep).add_argument("conditions", nargs="+", metavar="CONDITION")
    command("unique", unique).add_argument("column", metavar="COLUMN")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 when the user must change something."""
    args = build_parser().parse_args(argv)
    if len(args.delimiter) != 1:
        print("tally: the delimiter is one character", file=sys.stderr)
        return 2
    try:
        args.action(args)
    except TallyError as error:
        print(f"tally: {error}", file=sys.stderr)
        return 2
    return 0
