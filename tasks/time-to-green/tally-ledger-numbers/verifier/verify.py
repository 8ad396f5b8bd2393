"""Hidden checks of tally-ledger-numbers: many spellings that are numbers, many that are not."""

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


def read(spellings: dict[str, float]) -> None:
    """Each spelling is read as the number beside it; whole numbers stay whole."""
    got = v.calls("tally.numbers", "parse_number", [([text], {}) for text in spellings])
    for text, number, want in zip(spellings, got, spellings.values(), strict=True):
        v.equal(number, want, f"parse_number({text!r})")


@v.check("thousands")
def thousands() -> None:
    """Groups of three, any number of them, with sign and decimals."""
    read({"1,234": 1234, "-1,234,567": -1234567, "+12,345.50": 12345.5, "123,456.": 123456.0})
    read({" 9,007,199,254,740,993 ": 9007199254740993, "1,000": 1000, "-999,999.125": -999999.125})


@v.check("parentheses")
def parentheses() -> None:
    """Negative numbers in parentheses, white space inside, combined with separators."""
    read({"(12.5)": -12.5, "(1,234)": -1234, "( 7 )": -7, " (.5) ": -0.5, "(10,000.75)": -10000.75, "(8.)": -8.0})


def not_refused(texts: list[str]) -> list[str]:
    """Those texts that parse_number does not refuse with TallyError; one child for all of them."""
    probe = (
        "import json, sys\nfrom tally.numbers import parse_number\nfrom tally.table import TallyError\n"
        "kept = []\nfor text in json.load(sys.stdin):\n    try:\n        parse_number(text)\n"
        "    except TallyError as error:\n        if str(error) == f'not a number: {text!r}':\n            continue\n"
        "    kept.append(text)\n"
        "print(json.dumps(kept))\n"
    )
    result = v.ok(v.python(["-c", probe], stdin=json.dumps(texts).encode()))
    kept = result.json()
    if not isinstance(kept, list):
        raise Failed(f"odd answer: {kept!r}")
    return [str(text) for text in kept]


@v.check("nothing-else")
def nothing_else() -> None:
    """Everything that is not one of the two spellings stays an error."""
    bad = [
        "1,23",
        "1234,567",
        "1,,234",
        ",123",
        "1,234,",
        "1.234,5",
        "0.123,456",
        "1,2345",
        "12,34,567",
        "1, 234",
        "1,234567",
    ]
    bad += ["(-5)", "-(5)", "()", "((5))", "(5", "5)", "(5)(6)", "(+5)", "+(1,234)", "(1,23)", "( )", "(5) %", "1'234"]
    bad += ["", "1e3", "1_000", "nan", "--1", "1,234.5,678", "1,\u0661\u0662\u0663"]
    survivors = not_refused(bad)
    if survivors:
        raise Failed(f"read as numbers: {survivors}")


@v.check("command-line")
def command_line() -> None:
    """The spellings arrive in the commands, quoted or with another delimiter."""
    v.equal(tally(["sum", "in.csv", "b", "--delimiter", ";"], "a;b\nx;1,500\ny;(2,000.5)\nz;\n"), "-500.5\n", "sum")
    want = "count: 2\nsum: 999995\nmin: -5\nmax: 1000000\nmean: 499997.5\nmedian: 499997.5\n"
    v.equal(tally(["stats", "in.csv", "a"], 'a\n"1,000,000"\n(5)\n'), want, "stats")
    refuses(["sum", "in.csv", "a"], 'a\n"1,000"\n"(1,00)"\n', "not a number: '(1,00)'")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """Cells are printed as they stand; numbers that were numbers are the same numbers."""
    text = 'a,b\n"1,234",(5)\n"1,234",x\n'
    v.equal(tally(["head", "in.csv"], text), 'a,b\n"1,234",(5)\n"1,234",x\n', "head")
    v.equal(tally(["unique", "in.csv", "a"], text), "2\t1,234\n", "unique")
    v.equal(tally(["filter", "in.csv", "b=(5)"], text), 'a,b\n"1,234",(5)\n', "filter")
    v.equal(tally(["sum", "in.csv", "a"], "a\n 12\n-3\n+.5\n7.\n1000000\n"), "1000016.5\n", "sum")


@v.check("own-suite")
def own_suite() -> None:
    """The program's own tests, as they were handed out, still pass."""
    result = v.ok(v.python(["-m", "unittest", "tests.test_tally"], files=SUITE))
    if b"\nRan 20 tests" not in result.stderr:
        raise Failed("the suite did not run all of its 20 tests")


v.finish()
