"""Hidden checks of logreport-continuations: continuation lines in every position, and everything that had to stay."""

from fairtrial.verify import Failed, Verification

v = Verification()
SUITE = {
    path.relative_to(v.task / "workspace").as_posix(): path.read_bytes()
    for path in sorted((v.task / "workspace" / "tests").rglob("*.py"))
}


def report(argv: list[str], text: str, status: int = 0) -> str:
    """Standard output of `logreport.py ARGV in.log`; the exit status must be as given."""
    result = v.python(["logreport.py", *argv, "in.log"], files={"in.log": text})
    if result.timed_out or result.status != status:
        raise Failed(f"want status {status}: {result}")
    return result.text


def bad_lines(text: str, *argv: str) -> str:
    """The two figures at the top of the summary."""
    return " ".join(line.split(":")[1].strip() for line in report(["summary", *argv], text).splitlines()[:2])


@v.check("belonging")
def belonging() -> None:
    """Printed as they stand: blanks at both ends, look-alikes of entries, white space only, after empty lines."""
    text = (
        "2024-01-02 03:00:00 ERROR a: one\n\t  x: 100% %s \n 2024-01-02 03:00:01 FATAL b: no entry\n"
        "\n   \n\n  after empty lines\n2024-01-02 04:00:00 ERROR b: two\n2024-01-02 05:00:00 ERROR c: three\n end"
    )
    want = (
        "2024-01-02 03:00:00 ERROR a: one\n\t  x: 100% %s \n 2024-01-02 03:00:01 FATAL b: no entry\n"
        "   \n  after empty lines\n2024-01-02 04:00:00 ERROR b: two\n2024-01-02 05:00:00 ERROR c: three\n end\n"
    )
    v.equal(report(["errors"], text), want, "errors")
    v.equal(bad_lines(text), "3 0", "entries and bad lines")
    v.equal(report(["errors"], text.replace("\n", "\r\n")), want, "errors, Windows line ends")
    v.equal(report(["errors", "-n", "2"], text), "".join(want.splitlines(True)[:6]), "errors -n 2")


@v.check("left-out")
def left_out() -> None:
    """What -l or the level leaves out takes its lines along, and the entry before it gets none of them."""
    text = (
        "2024-01-02 03:00:00 ERROR a: one\n mine\n2024-01-02 03:00:01 WARN a: two\n not mine\n"
        "2024-01-02 03:00:02 FATAL a: three\n2024-01-02 03:00:03 INFO a: four\n not mine either\n"
    )
    want = "2024-01-02 03:00:00 ERROR a: one\n mine\n2024-01-02 03:00:02 FATAL a: three\n"
    v.equal(report(["errors"], text), want, "errors")
    v.equal(report(["errors", "-l", "ERROR"], text), want, "errors -l ERROR")
    v.equal(bad_lines(text, "-l", "ERROR"), "2 0", "entries and bad lines with -l ERROR")


@v.check("no-entry")
def no_entry() -> None:
    """Without an entry to belong to they are bad lines, one each."""
    text = "  first\n\n\tsecond\n2024-01-02 03:00:00 ERROR a: one\n mine\nbad\n not mine\n\n nor this\n"
    text += "2024-01-02 03:00:00 LOUD a: bad too\n nor that\n2024-01-02 03:00:09 ERROR a: two\n mine again\n"
    want = "2024-01-02 03:00:00 ERROR a: one\n mine\n2024-01-02 03:00:09 ERROR a: two\n mine again\n"
    v.equal(report(["errors"], text), want, "errors")
    v.equal(bad_lines(text), "2 7", "entries and bad lines")
    v.equal(report(["hours"], " a\n b\n", status=1), "no entries (bad lines: 2)\n", "no entries")


@v.check("one-call-only")
def one_call_only() -> None:
    """Calls in one process do not reach each other, neither with entries nor with their lines."""
    one, two = "2024-01-02 03:00:00 ERROR a: one\n 1\n", " 2\n2024-01-02 03:00:00 ERROR a: two\n 3\n"
    code = (
        "import logreport, sys\nfor name in sys.argv[1:]:\n    logreport.main(['errors', name])\nsys.stdout.flush()\n"
    )
    result = v.python(["-c", code, "one", "two", "one"], files={"one": one, "two": two})
    v.equal(v.ok(result).text, one + two[3:] + one, "output of three calls")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """Logs without continuation lines give what they always gave."""
    text = "2024-05-06 23:59:00 WARN a: x\n\nx y\n2024-05-07 00:01:00 ERROR b: y \n2024-05-07 00:02:00 ODD b: z\n"
    head = "entries:   2\nbad lines: 2\nfirst:     2024-05-06 23:59:00\nlast:      2024-05-07 00:01:00\n"
    tail = "span:      -86280 s\nlevels:\n  ERROR            1\n  WARN             1\n"
    tail += "components:\n  a                1\n  b                1\n"
    v.equal(report(["summary"], text), head + tail, "summary")
    v.equal(report(["errors"], text), "2024-05-07 00:01:00 ERROR b: y \n", "errors")


@v.check("own-suite")
def own_suite() -> None:
    """The program's own tests, as they were handed out, still pass."""
    result = v.ok(v.python(["-m", "unittest", "tests.test_characterization"], files=SUITE))
    if b"\nRan 10 tests" not in result.stderr:
        raise Failed("the suite did not run all of its 10 tests")


v.finish()
