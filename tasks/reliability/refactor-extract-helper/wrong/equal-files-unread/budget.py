"""Totals, limits and changes of small account files."""

import math


def entries(text):
    """The entries of an account file in order, as pairs (name, value). A bad line is a ValueError."""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if line:
            yield entry(line, f"line {number}: {raw!r}")


def entry(line, complaint):
    """Name and value of a line without its comment."""
    name, _, amount = line.partition("=")
    name = " ".join(name.split()).lower()
    try:
        value = float(amount.replace(",", "."))
    except ValueError:
        value = math.nan
    if not name or not math.isfinite(value):
        raise ValueError(complaint)
    return name, value


def totals(text):
    """Amounts added up by name, in order of first appearance."""
    result = {}
    for name, value in entries(text):
        result[name] = round(result.get(name, 0.0) + value, 2)
    return result


def over(text, limit):
    """Names of the lines whose amount is above the limit, in order; a name may come twice."""
    return [name for name, value in entries(text) if value > limit]


def changes(old, new):
    """Names whose last amount differs between two files, as [name, before, after]; None where there is none."""
    if old == new:
        return []
    before, after = dict(entries(old)), dict(entries(new))
    names = list(before) + [name for name in after if name not in before]
    return [[name, before.get(name), after.get(name)] for name in names if before.get(name) != after.get(name)]
