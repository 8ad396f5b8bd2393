"""Hidden checks of tally-filter-numbers: all signs, other numbers, cells that are none, and what had to stay text."""

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


def kept(conditions: list[str], cells: list[str]) -> list[str]:
    """Those cells of a one-column table that pass the conditions on it."""
    text = "v,end\n" + "".join(f"{cell},x\n" for cell in cells)
    lines = tally(["filter", "in.csv", *conditions], text).splitlines()
    v.equal(lines[:1], ["v,end"], "header")
    return [line.removesuffix(",x") for line in lines[1:]]


@v.check("all-four-signs")
def all_four_signs() -> None:
    """Numbers are compared by value: signs, decimals, blanks and size included."""
    cells = ["9", "10", "-11", "10.0", " 9.5 ", "+100", ".5"]
    v.equal(kept(["v>9.5"], cells), ["10", "10.0", "+100"], "v>9.5")
    v.equal(kept(["v >= 10"], cells), ["10", "10.0", "+100"], "v >= 10")
    v.equal(kept(["v<=9.50"], cells), ["9", "-11", " 9.5 ", ".5"], "v<=9.50")
    v.equal(kept(["v<-2"], cells), ["-11"], "v<-2")
    big = ["9007199254740992", "9007199254740993"]
    v.equal(kept(["v>9007199254740992"], big), big[1:], "big whole numbers")


@v.check("no-number")
def no_number() -> None:
    """With a number as operand, cells that tally does not read as numbers never match."""
    cells = ["", "n/a", "5", "1e9", "nan", "1_000", "inf", "4 kg"]
    v.equal(kept(["v<6"], cells), ["5"], "v<6")
    v.equal(kept(["v>=0"], cells), ["5"], "v>=0")


@v.check("text-operands")
def text_operands() -> None:
    """With any other operand text is compared, also where cells are numbers."""
    v.equal(
        kept(["v>=2024-03-01"], ["2024-02-29", "2024-03-01", "2024-11-30", ""]), ["2024-03-01", "2024-11-30"], "days"
    )
    v.equal(kept(["v<b"], ["a", "c", "B", "7", ""]), ["a", "B", "7", ""], "v<b")
    v.equal(kept(["v>1e1"], ["7", "1", "1e2", "-3"]), ["7", "1e2"], "1e1 is no number to tally")
    v.equal(kept(["v>"], ["", "7", "x"]), ["7", "x"], "empty operand")


@v.check("text-signs")
def text_signs() -> None:
    """The other three signs compare text."""
    cells = ["3", "3.0", "03", "13", ""]
    v.equal(kept(["v=3"], cells), ["3"], "v=3")
    v.equal(kept(["v!=3"], cells), ["3.0", "03", "13", ""], "v!=3")
    v.equal(kept(["v~3"], cells), ["3", "3.0", "03", "13"], "v~3")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """Rows come out as they stand, in order; other commands and errors are as before."""
    text = 'a,b\n"x, y", 12 \nz,5\n"say ""hi""",30\n'
    v.equal(tally(["filter", "in.csv", "b>11", "a~y"], text), 'a,b\n"x, y", 12 \n"say ""hi""",30\n', "filter")
    v.equal(tally(["stats", "in.csv", "b"], text).splitlines()[:2], ["count: 3", "sum: 47"], "stats")
    refuses(["filter", "in.csv", "c>1"], text, "no column 'c' (columns: a, b)")
    refuses(["filter", "in.csv", ">1"], text, "not a condition: '>1' (such as qty>=10)")


@v.check("own-suite")
def own_suite() -> None:
    """The program's own tests, as they were handed out, still pass."""
    result = v.ok(v.python(["-m", "unittest", "tests.test_tally"], files=SUITE))
    if b"\nRan 20 tests" not in result.stderr:
        raise Failed("the suite did not run all of its 20 tests")


v.finish()
