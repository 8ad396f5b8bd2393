"""Totals, limits and changes of small account files."""


def totals(text):
    """Amounts added up by name, in order of first appearance."""
    result = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        name, _, amount = line.partition("=")
        name = " ".join(name.split()).lower()
        amount = amount.strip().replace(",", ".")
        if not name or not amount:
            raise ValueError(f"line {number}: {raw!r}")
        try:
            value = float(amount)
        except ValueError:
            raise ValueError(f"line {number}: {raw!r}") from None
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"line {number}: {raw!r}")
        result[name] = round(result.get(name, 0.0) + value, 2)
    return result


def over(text, limit):
    """Names of the lines whose amount is above the limit, in order; a name may come twice."""
    found = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        name, _, amount = line.partition("=")
        name = " ".join(name.split()).lower()
        amount = amount.strip().replace(",", ".")
        if not name or not amount:
            raise ValueError(f"line {number}: {raw!r}")
        try:
            value = float(amount)
        except ValueError:
            raise ValueError(f"line {number}: {raw!r}") from None
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(f"line {number}: {raw!r}")
        if value > limit:
            found.append(name)
    return found


def changes(old, new):
    """Names whose last amount differs between two files, as [name, before, after]; None where there is none."""
    sides = []
    for text in (old, new):
        side = {}
        for number, raw in enumerate(text.splitlines(), 1):
            line = raw.split("#", 1)[0].strip()
            if not line:
                continue
            name, _, amount = line.partition("=")
            name = " ".join(name.split()).lower()
            amount = amount.strip().replace(",", ".")
            if not name or not amount:
                raise ValueError(f"line {number}: {raw!r}")
            try:
                value = float(amount)
            except ValueError:
                raise ValueError(f"line {number}: {raw!r}") from None
            if value != value or value in (float("inf"), float("-inf")):
                raise ValueError(f"line {number}: {raw!r}")
            side[name] = value
        sides.append(side)
    before, after = sides
    names = list(before) + [name for name in after if name not in before]
    return [[name, before.get(name), after.get(name)] for name in names if before.get(name) != after.get(name)]
