"""Hidden checks of logreport-span: other dates than the suite's, and everything that had to stay."""

from fairtrial.verify import Failed, Verification

v = Verification()


def report(argv: list[str], text: str, status: int = 0) -> str:
    """Standard output of `logreport.py ARGV in.log`; the exit status must be as given."""
    result = v.python(["logreport.py", *argv, "in.log"], files={"in.log": text})
    if result.timed_out or result.status != status:
        raise Failed(f"want status {status}: {result}")
    return result.text


def span(*stamps: str, argv: tuple[str, ...] = ()) -> str:
    """The span line of a log with one INFO entry for each stamp; a stamp may bring its own level."""
    lines = [stamp if stamp.count(" ") > 1 else f"{stamp} INFO" for stamp in stamps]
    out = report(["summary", *argv], "".join(f"{line} app: text\n" for line in lines)).splitlines()
    v.equal(out[:1], [f"entries:   {len(stamps)}"] if not argv else out[:1], "number of entries")
    return next((line for line in out if line.startswith("span:")), "no span line")


@v.check("days-apart")
def days_apart() -> None:
    """One day, several days, exactly a day, and the entries that -l leaves."""
    v.equal(span("2023-05-09 22:00:00", "2023-05-10 01:30:00"), "span:      12600 s", "one midnight")
    v.equal(
        span("2023-05-09 10:00:00", "2023-05-10 09:00:00", "2023-05-12 11:00:05"), "span:      262805 s", "three days"
    )
    v.equal(span("2023-05-09 10:00:00", "2023-05-10 10:00:00"), "span:      86400 s", "the same time a day later")
    stamps = ("2023-05-01 00:00:00", "2023-05-02 23:59:59 WARN", "2023-05-04 00:00:00 ERROR", "2023-05-09 00:00:00")
    v.equal(span(*stamps, argv=("-l", "WARN")), "span:      86401 s", "-l WARN")


@v.check("calendar")
def calendar() -> None:
    """Ends of months, leap days, ends of years."""
    v.equal(span("2023-04-30 23:59:00", "2023-05-01 00:01:00"), "span:      120 s", "end of April")
    v.equal(span("2024-02-28 12:00:00", "2024-03-01 12:00:00"), "span:      172800 s", "leap year")
    v.equal(span("2023-02-28 12:00:00", "2023-03-01 12:00:00"), "span:      86400 s", "no leap year")
    v.equal(span("2019-12-31 23:59:58", "2022-01-01 00:00:00"), "span:      63158402 s", "two years")


@v.check("odd-dates")
def odd_dates() -> None:
    """Dates that are in no calendar are entries as before."""
    text = (
        "2024-02-01 10:00:00 INFO a: x\n2024-02-30 11:00:00 ERROR b: y\n"
        "2024-13-01 11:30:00 INFO b: z\n2024-03-01 10:00:00 INFO a: x\n"
    )
    v.equal(report(["errors"], text), "2024-02-30 11:00:00 ERROR b: y\n", "errors")
    v.equal(report(["summary"], text).splitlines()[:2], ["entries:   4", "bad lines: 0"], "summary")
    v.equal(report(["hours"], text).splitlines()[1], "11     2 " + "#" * 40, "hours")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """Other output, byte for byte; entries keep the order of the file."""
    text = (
        "2023-06-01 09:30:00 WARN net: slow\n2023-06-01 09:10:00 ERROR net: lost\noops\n"
        "2023-06-01 09:20:00 ERROR disk: full: 1%\n2023-06-01 17:45:10 INFO net: back\n"
    )
    want = (
        "entries:   4\nbad lines: 1\nfirst:     2023-06-01 09:30:00\nlast:      2023-06-01 17:45:10\n"
        "span:      29710 s\nlevels:\n  ERROR            2\n  WARN             1\n  INFO             1\n"
        "components:\n  net              3\n  (others)         1\n"
    )
    v.equal(report(["summary", "-n", "1"], text), want, "summary")
    want = "2023-06-01 09:10:00 ERROR net: lost\n2023-06-01 09:20:00 ERROR disk: full: 1%\n"
    v.equal(report(["errors"], text), want, "errors")
    v.equal(report(["hours"], text), f"09     3 {'#' * 40}\n17     1 {'#' * 13}\n", "hours")
    v.equal(report(["summary", "-l", "FATAL"], text, status=1), "no entries (bad lines: 1)\n", "no entries")


v.finish()
