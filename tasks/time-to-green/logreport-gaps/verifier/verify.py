"""Hidden checks of logreport-gaps: gaps over dates, ties, backward steps, and everything that had to stay."""

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


def log(*stamps: str) -> str:
    """A log with one INFO entry for each stamp."""
    return "".join(f"{stamp} INFO app: text\n" for stamp in stamps)


def gap(seconds: int, first: str, second: str) -> str:
    """One line of output."""
    return f"{seconds:>7} s  {first}  {second}\n"


@v.check("dates-count")
def dates_count() -> None:
    """Midnight, the same time a day later, ends of months, leap days, ends of years."""
    a, b, c = "2023-12-30 23:59:50", "2023-12-31 00:00:10", "2024-01-01 00:00:10"
    d, e, f = "2024-02-28 00:00:10", "2024-03-01 00:00:09", "2026-03-01 00:00:09"
    want = gap(63072000, e, f) + gap(5011200, c, d) + gap(172799, d, e) + gap(86400, b, c) + gap(20, a, b)
    v.equal(report(["gaps"], log(a, b, c, d, e, f)), want, "gaps")


@v.check("order")
def order() -> None:
    """Equal gaps in the order of the file, also where -n cuts between them."""
    a, b, c = "2024-05-06 23:00:00", "2024-05-06 23:10:00", "2024-05-06 23:20:00"
    d, e, f = "2024-05-07 01:00:00", "2024-05-07 01:10:00", "2024-05-07 01:10:01"
    want = gap(6000, c, d) + gap(600, a, b) + gap(600, b, c) + gap(600, d, e) + gap(1, e, f)
    v.equal(report(["gaps", "-n", "0"], log(a, b, c, d, e, f)), want, "-n 0")
    got = report(["gaps", "-n", "3"], log(a, b, c, d, e, f))
    v.equal(got, "".join(want.splitlines(True)[:3]), "-n 3")


@v.check("not-listed")
def not_listed() -> None:
    """Steps back and equal times are no gaps; the file's order stays."""
    a, b, c, d = "2024-05-06 10:00:00", "2024-05-06 09:00:00", "2024-05-06 09:00:00", "2024-05-06 09:00:07"
    v.equal(report(["gaps"], log(a, b, c, d)), gap(7, c, d), "one step back")
    v.equal(report(["gaps"], log("2024-05-07 00:10:00", "2024-05-06 23:50:00")), "", "back over midnight")


@v.check("edges")
def edges() -> None:
    """One entry, no entries, bad lines and empty lines between entries, usage."""
    v.equal(report(["gaps"], log("2024-05-06 10:00:00")), "", "one entry")
    v.equal(report(["gaps"], "x\n", status=1), "no entries (bad lines: 1)\n", "no entries")
    text = "2024-05-06 10:00:00 INFO a: x\nbad\n\n2024-05-06 10:00:05 DEBUG a: x\n2024-05-06 10:00:09 WARN b: x"
    got = report(["gaps", "-l", "info"], text)
    v.equal(got, gap(9, "2024-05-06 10:00:00", "2024-05-06 10:00:09"), "-l info")
    result = v.python(["logreport.py", "gaps"])
    usage = "usage: logreport.py COMMAND [-l LEVEL] [-n COUNT] FILE\n"
    v.equal([result.status, result.stdout], [2, b""], "status and output without a file")
    v.equal(result.stderr.decode(errors="replace"), "logreport: one FILE, please\n" + usage, "usage")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """The other commands print what they always printed, the pinned span included."""
    text = log("2024-05-06 23:59:00", "2024-05-08 00:01:00", "2024-05-07 12:00:00")
    head = "entries:   3\nbad lines: 0\nfirst:     2024-05-06 23:59:00\nlast:      2024-05-07 12:00:00\n"
    tail = "levels:\n  INFO             3\ncomponents:\n  app              3\n"
    v.equal(report(["summary"], text), head + "span:      -43140 s\n" + tail, "summary")
    bar = "#" * 40
    v.equal(report(["hours"], text), f"00     1 {bar}\n12     1 {bar}\n23     1 {bar}\n", "hours")
    result = v.python(["logreport.py", "gap", "in.log"], files={"in.log": text})
    v.equal([result.status, result.stdout], [2, b""], "an unknown command")


@v.check("own-suite")
def own_suite() -> None:
    """The program's own tests, as they were handed out, still pass."""
    result = v.ok(v.python(["-m", "unittest", "tests.test_characterization"], files=SUITE))
    if b"\nRan 10 tests" not in result.stderr:
        raise Failed("the suite did not run all of its 10 tests")


v.finish()
