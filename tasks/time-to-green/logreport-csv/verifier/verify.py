"""Hidden checks of logreport-csv: other logs, quoting, options, and everything that had to stay."""

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


@v.check("summary")
def summary() -> None:
    """Every row of another log, over midnight: the span is the pinned one."""
    text = (
        "2024-01-31 23:00:00 DEBUG b: x\n2024-01-31 23:30:00 WARN a: x\n\nbad\n2024-02-01 00:30:00 WARN b: x\nworse\n"
    )
    want = (
        "section,name,value\ntotal,entries,3\ntotal,bad lines,2\ntotal,first,2024-01-31 23:00:00\n"
        "total,last,2024-02-01 00:30:00\ntotal,span,-81000\nlevel,WARN,2\nlevel,DEBUG,1\ncomponent,b,2\ncomponent,a,1\n"
    )
    v.equal(report(["summary", "-f", "csv"], text), want, "summary")
    v.equal(report(["hours", "-f", "csv"], text), "hour,entries\n00,1\n23,2\n", "hours")


@v.check("quoting")
def quoting() -> None:
    """Commas and quotation marks in texts and components; nothing else is quoted."""
    text = (
        '2024-01-31 23:00:00 ERROR a,b: say "hi", now\n2024-01-31 23:00:00 FATAL "q": a;b \'c\' \\\n'
        "2024-01-31 23:00:00 ERROR c:  two blanks \n2024-01-31 23:00:00 ERROR d: \n"
    )
    want = (
        'time,level,component,text\n2024-01-31 23:00:00,ERROR,"a,b","say ""hi"", now"\n'
        '2024-01-31 23:00:00,FATAL,"""q""",a;b \'c\' \\\n2024-01-31 23:00:00,ERROR,c, two blanks \n'
        "2024-01-31 23:00:00,ERROR,d,\n"
    )
    v.equal(report(["errors", "-f", "csv"], text), want, "errors")
    got = report(["summary", "-fcsv"], text).splitlines()[-4:]
    v.equal(got, ['component,"""q""",1', 'component,"a,b",1', "component,c,1", "component,d,1"], "components")


@v.check("options")
def options() -> None:
    """-l and -n as in text, no errors, no entries, formats that are none."""
    text = "".join(
        f"2024-01-31 0{n}:00:00 {level} c{n}: x\n" for n, level in enumerate(["INFO", "ERROR", "WARN", "FATAL"])
    )
    got = report(["summary", "-n", "1", "-f", "csv", "-l", "WARN"], text).splitlines()[-5:]
    v.equal(
        got, ["level,FATAL,1", "level,ERROR,1", "level,WARN,1", "component,c1,1", "component,(others),2"], "summary"
    )
    v.equal(report(["errors", "-f", "csv", "-n", "1"], text).count("\n"), 2, "lines of errors -n 1")
    quiet = "2024-01-31 01:00:00 INFO a: x\n"
    v.equal(report(["errors", "-f", "csv"], quiet), "time,level,component,text\n", "no errors")
    v.equal(report(["errors", "-f", "csv", "-l", "FATAL"], quiet, 1), "no entries (bad lines: 0)\n", "no entries")
    usage = "usage: logreport.py COMMAND [-l LEVEL] [-n COUNT] FILE\n"
    for name in ("CSV", ""):
        result = v.python(["logreport.py", "errors", "-f", name, "in.log"], files={"in.log": quiet})
        v.equal([result.status, result.stdout], [2, b""], f"status and output of -f {name!r}")
        want = f"logreport: unknown format '{name}'\n{usage}"
        v.equal(result.stderr.decode(errors="replace"), want, f"standard error of -f {name!r}")


@v.check("one-call-only")
def one_call_only() -> None:
    """Calls in one process do not reach each other: after a call with -f csv, text is the default again."""
    code = (
        "import logreport, sys\nlogreport.main(['hours', '-f', 'csv', 'in.log'])\nlogreport.main(['hours', 'in.log'])\n"
        "sys.stdout.flush()\n"
    )
    result = v.ok(v.python(["-c", code], files={"in.log": "2024-01-31 01:00:00 INFO a: x\n"}))
    v.equal(result.text, f"hour,entries\n01,1\n01     1 {'#' * 40}\n", "output of two calls")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """Text output is byte for byte what it was."""
    text = '2024-05-06 23:59:00 WARN a: x, y\nx y\n2024-05-07 00:01:00 ERROR b,c: "y"\n'
    head = "entries:   2\nbad lines: 1\nfirst:     2024-05-06 23:59:00\nlast:      2024-05-07 00:01:00\n"
    tail = "span:      -86280 s\nlevels:\n  ERROR            1\n  WARN             1\n"
    tail += "components:\n  a                1\n  (others)         1\n"
    v.equal(report(["summary", "-n", "1"], text), head + tail, "summary")
    v.equal(report(["errors"], text), '2024-05-07 00:01:00 ERROR b,c: "y"\n', "errors")


@v.check("own-suite")
def own_suite() -> None:
    """The program's own tests, as they were handed out, still pass."""
    result = v.ok(v.python(["-m", "unittest", "tests.test_characterization"], files=SUITE))
    if b"\nRan 10 tests" not in result.stderr:
        raise Failed("the suite did not run all of its 10 tests")


v.finish()
