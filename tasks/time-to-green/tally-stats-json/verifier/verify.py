"""Hidden checks of tally-stats-json: other data than the visible test, and everything that had to stay."""

import json

from fairtrial.verify import Failed, Verification

v = Verification()
SUITE = {
    path.relative_to(v.task / "workspace").as_posix(): path.read_bytes()
    for path in sorted((v.task / "workspace" / "tests").rglob("*.py"))
}


def tally(argv: list[str], text: str, status: int = 0, stdin: str = "") -> str:
    """Standard output of `tally ARGV` beside a file in.csv; the exit status must be as given."""
    result = v.python(["-m", "tally", *argv], files={"in.csv": text}, stdin=stdin.encode())
    if result.timed_out or result.status != status:
        raise Failed(f"want status {status}: {result}")
    return result.text


def refuses(argv: list[str], text: str, message: str) -> None:
    """An error is one line on standard error, nothing on standard output, status 2."""
    result = v.python(["-m", "tally", *argv], files={"in.csv": text})
    v.equal([result.status, result.stdout.decode(errors="replace")], [2, ""], f"status and output of {argv}")
    v.equal(result.stderr.decode(errors="replace"), f"tally: {message}\n", f"standard error of {argv}")


def figures(argv: list[str], text: str, stdin: str = "") -> list[list[object]]:
    """The printed object as [key, value] pairs, in order."""
    line = tally(argv, text, stdin=stdin)
    if line.count("\n") != 1 or not line.endswith("\n"):
        raise Failed(f"not one line: {line!r}")
    try:
        pairs = json.loads(line, object_pairs_hook=lambda items: [list(item) for item in items])
    except ValueError as error:
        raise Failed(f"not JSON: {line!r} ({error})") from None
    if not isinstance(pairs, list):
        raise Failed(f"not an object: {line!r}")
    return pairs


def same(pairs: list[list[object]], column: str, *values: float | None) -> None:
    """Seven keys in order; numbers by value (6 and 6.0 are both six), true and text are no numbers."""
    names = ["column", "count", "sum", "min", "max", "mean", "median"]
    v.equal([pair[0] for pair in pairs], names, "keys")
    v.equal(pairs[0][1], column, "column")
    for (name, got), want in zip(pairs[1:], values, strict=True):
        number = isinstance(got, int | float) and not isinstance(got, bool)
        if got is not None if want is None else not (number and abs(got - want) < 1e-12):
            raise Failed(f"{name}: got {got!r}, want {want!r}")


@v.check("seven-keys")
def seven_keys() -> None:
    """Exactly seven keys in order, nothing rounded, big whole numbers exact."""
    same(figures(["stats", "in.csv", "v", "--json"], "v,w\n1,a\n1,b\n2,c\n"), "v", 3, 4, 1, 2, 4 / 3, 1)
    same(
        figures(["stats", "--json", "in.csv", "x y"], "x y\n-0.125\n0.0625\n"),
        "x y",
        2,
        -0.0625,
        -0.125,
        0.0625,
        -0.03125,
        -0.03125,
    )
    pairs = figures(["stats", "in.csv", "n", "--json"], "n\n9007199254740993\n")
    v.equal([pairs[2][1], pairs[3][1]], [9007199254740993, 9007199254740993], "sum and min of one big number")


@v.check("empty-column")
def empty_column() -> None:
    """No numbers: two zeros and four nulls."""
    same(figures(["stats", "in.csv", "b", "--json"], "a,b\n1,\n2, \n"), "b", 0, 0, None, None, None, None)
    same(figures(["stats", "in.csv", "a", "--json"], "a,b\n"), "a", 0, 0, None, None, None, None)


@v.check("sources")
def sources() -> None:
    """Standard input, other delimiters, quoted cells, padded rows."""
    same(figures(["stats", "-", "b", "--json"], "", stdin='a,b\n"x, y",5\nz\n\n'), "b", 1, 5, 5, 5, 5, 5)
    same(figures(["stats", "in.csv", "b", "--delimiter", ";", "--json"], "a;b\n1,5; 2 \n;4\n"), "b", 2, 6, 2, 4, 3, 3)


@v.check("errors")
def errors() -> None:
    """With the flag, errors are what they are without it."""
    refuses(["stats", "in.csv", "c", "--json"], "a,b\n1,2\n", "no column 'c' (columns: a, b)")
    refuses(["stats", "in.csv", "a", "--json"], "a,b\n1,2\none,2\n", "not a number: 'one'")
    refuses(["stats", "in.csv", "a", "--json"], "a\n1\n1,2\n", "line 3: 2 cells, the header has 1")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """Other command lines print what they always printed."""
    text = "k,v\na,1.005\nb,\na,2.5\n"
    v.equal(
        tally(["stats", "in.csv", "v"], text),
        "count: 2\nsum: 3.5\nmin: 1\nmax: 2.5\nmean: 1.75\nmedian: 1.75\n",
        "stats",
    )
    v.equal(tally(["unique", "in.csv", "k"], text), "2\ta\n1\tb\n", "unique")
    if v.python(["-m", "tally", "sum", "in.csv", "v", "--json"], files={"in.csv": text}).status != 2:
        raise Failed("`sum` takes --json too; only `stats` was asked for")


@v.check("own-suite")
def own_suite() -> None:
    """The program's own tests, as they were handed out, still pass."""
    result = v.ok(v.python(["-m", "unittest", "tests.test_tally"], files=SUITE))
    if b"\nRan 20 tests" not in result.stderr:
        raise Failed("the suite did not run all of its 20 tests")


v.finish()
