"""Conditions of `tally filter`, such as qty>=10 or city=Oslo."""

import operator
import re
from collections.abc import Callable

from tally.numbers import parse_number
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
ORDER = {sign: TESTS[sign] for sign in (">", "<", ">=", "<=")}


def parse_condition(text: str) -> tuple[str, str, str]:
    """Column, sign and operand of a condition."""
    match = FORM.fullmatch(text)
    if match is None:
        raise TallyError(f"not a condition: {text!r} (such as qty>=10)")
    return match["column"].strip(), match["sign"], match["operand"].strip()


def holds(cell: str, sign: str, operand: str) -> bool:
    """Whether one cell meets a condition. Order is that of numbers when the operand is one."""
    if sign in ORDER and (bound := number_or_none(operand)) is not None:
        value = number_or_none(cell)
        return value is not None and ORDER[sign](value, bound)
    return TESTS[sign](cell, operand)


def number_or_none(text: str) -> int | float | None:
    """The number in a text, None where there is none."""
    try:
        return parse_number(text)
    except TallyError:
        return None


def matching(table: Table, conditions: list[str]) -> list[list[str]]:
    """The rows for which every condition holds."""
    rows = table.rows
    for text in conditions:
        column, sign, operand = parse_condition(text)
        position = table.index(column)
        rows = [row for row in rows if holds(row[position].strip(), sign, operand)]
    return sorted(rows)
