"""Hidden checks of tally-markdown: other tables, every rule of the format, and what had to stay."""

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


MARKDOWN = ["--format", "markdown"]


@v.check("table")
def table() -> None:
    """Shape of the table: no padding, empty cells, short rows, no rows at all, -n, several conditions."""
    text = "a,long name,c\nx,1\nyyyyyy,  ,z z\nx,22,\n"
    want = "| a | long name | c |\n| --- | ---: | --- |\n| x | 1 |  |\n| yyyyyy |  | z z |\n"
    v.equal(tally(["head", "in.csv", "-n", "2", *MARKDOWN], text), want, "head -n 2")
    want = "| a | long name | c |\n| --- | ---: | --- |\n| x | 22 |  |\n"
    v.equal(tally(["filter", *MARKDOWN, "in.csv", "a=x", "long name~2"], text), want, "filter")
    refuses(["filter", "in.csv", "z=1", *MARKDOWN], text, "no column 'z' (columns: a, long name, c)")
    v.equal(tally(["head", "in.csv", *MARKDOWN], "only\n"), "| only |\n| --- |\n", "no rows")


@v.check("alignment")
def alignment() -> None:
    """Numeric means: printed rows only, at least one number, nothing else but empty cells."""
    text = "n,m,e,k\n1,-2.5,,1e3\n+.5,x,,7\n"
    v.equal(tally(["head", "in.csv", *MARKDOWN], text).splitlines()[1:2], ["| ---: | --- | --- | --- |"], "head")
    v.equal(
        tally(["head", "in.csv", "-n", "1", *MARKDOWN], text).splitlines()[1:2], ["| ---: | ---: | --- | --- |"], "-n 1"
    )
    got = tally(["filter", "in.csv", "k=7", *MARKDOWN], text).splitlines()[1:2]
    v.equal(got, ["| ---: | --- | --- | ---: |"], "filter")


@v.check("special-signs")
def special_signs() -> None:
    """Bars and line breaks in cells and names, blanks around cells, quotes and backslashes as they are."""
    text = 'a|b,"two\nlines"\n  x  ,"|1||"\n"q ""q"" \\","1\r\n2\n\n3"\n'
    want = '| a\\|b | two<br>lines |\n| --- | --- |\n| x | \\|1\\|\\| |\n| q "q" \\ | 1<br>2<br><br>3 |\n'
    v.equal(tally(["head", "in.csv", *MARKDOWN], text), want, "head")


@v.check("delimiter")
def delimiter() -> None:
    """The delimiter is for reading; standard input works."""
    text = "a;b\n1,5;2\nx|y;3\n"
    want = "| a | b |\n| --- | ---: |\n| 1,5 | 2 |\n| x\\|y | 3 |\n"
    v.equal(tally(["head", "in.csv", "--delimiter", ";", *MARKDOWN], text), want, "semicolons")
    got = tally(["filter", "-", "b>0", "--delimiter", "|", *MARKDOWN], "", stdin="a|b\nx|1\n")
    v.equal(got, "| a | b |\n| --- | ---: |\n| x | 1 |\n", "bars, from standard input")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """CSV stays what it was, byte for byte; errors too; the other commands know no --format."""
    text = 'a;b\n" x ";"1;2"\n"l1\nl2";|\n'
    v.equal(tally(["head", "in.csv", "--delimiter", ";"], text), 'a;b\n x ;"1;2"\n"l1\nl2";|\n', "head")
    v.equal(tally(["filter", "in.csv", "a=x", "--delimiter", ";"], text), 'a;b\n x ;"1;2"\n', "filter")
    result = v.python(["-m", "tally", "columns", "in.csv", *MARKDOWN], files={"in.csv": text})
    v.equal([result.status, result.stdout], [2, b""], "columns --format markdown")


@v.check("own-suite")
def own_suite() -> None:
    """The program's own tests, as they were handed out, still pass."""
    result = v.ok(v.python(["-m", "unittest", "tests.test_tally"], files=SUITE))
    if b"\nRan 20 tests" not in result.stderr:
        raise Failed("the suite did not run all of its 20 tests")


v.finish()
