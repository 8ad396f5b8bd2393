"""Conditions of `tally filter`, such as qty>=10 or city=Oslo."""

import operator
import re
from collections.abc import Callable

from tally.table import Table, TallyError

FORM = re.compile(r"(?P<column>[^=!<>~]+)(?P<sign>!=|>=|<=|=|>|<|~)(?P<operand>.*)", re.DOTALL)

TESTS: dict[str, Callable[[str, str], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    ">=": operator.ge,
    "<=": operator.le,
    "~": operator.contains,
}


def parse_condition(text: str) -> tuple[str, str, str]:
    """Column, sign and operand of a condition."""
    match = FORM.fullmatch(text)
    if match is None:
        raise TallyError(f"not a condition: {text!r} (such as qty>=10)")
    return match["column"].strip(), match["sign"], match["operand"].strip()


def matching(table: Table, conditions: list[str]) -> list[list[str]]:
    """The rows for which every condition holds."""
    rows = table.rows
    for text in conditions:
        column, sign, operand = parse_condition(text)
        position = table.index(column)
        holds = TESTS[sign]
        rows = [row for row in rows if holds(row[position].strip(), operand)]
    return rows
