"""Hidden checks of logreport-exclude: other logs than the visible test's, and everything that had to stay."""

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


LOG = (
    "2024-01-02 03:00:00 WARN a: one\n2024-01-02 03:10:00 ERROR b: two\nbroken a: line\n"
    "2024-01-02 04:00:00 ERROR A: three\n2024-01-02 04:30:00 FATAL ab: four\n2024-01-02 05:00:00 INFO a: five\n"
)


def summary(entries: int, times: tuple[str, str, int], levels: str, components: str) -> str:
    """What `summary` prints; times are first, last and span, levels and components "name number, name number"."""
    out = f"entries:   {entries}\nbad lines: 1\nfirst:     2024-01-02 {times[0]}\nlast:      2024-01-02 {times[1]}\n"
    out += f"span:      {times[2]} s\n"
    for title, pairs in (("levels", levels), ("components", components)):
        out += f"{title}:\n" + "".join(f"  {p.split()[0]:<12} {p.split()[1]:>5}\n" for p in pairs.split(", "))
    return out


@v.check("several")
def several() -> None:
    """Each -x leaves one more out, among other options and in any order."""
    want = summary(2, ("04:00:00", "04:30:00", 1800), "FATAL 1, ERROR 1", "A 1, ab 1")
    v.equal(report(["summary", "-x", "a", "-x", "b"], LOG), want, "-x a -x b")
    got = report(["errors", "-x", "A", "-n", "1", "-x", "b", "-l", "ERROR"], LOG)
    v.equal(got, "2024-01-02 04:30:00 FATAL ab: four\n", "errors")
    v.equal(
        report(["hours", "-xa", "-x", "ab", "-x", "a"], LOG), f"03     1 {'#' * 40}\n04     1 {'#' * 40}\n", "hours"
    )


@v.check("exact-names")
def exact_names() -> None:
    """Capitals and beginnings do not match, other signs mean nothing, unknown names are no error."""
    v.equal(report(["errors", "-x", "a"], LOG).count("\n"), 3, "errors but those of a")
    v.equal(report(["errors", "-x", "a.*", "-x", ".", "-x", "", "-x", "a,b"], LOG).count("\n"), 3, "patterns")
    got = report(["errors", "-x", "b,c"], "2024-01-02 03:00:00 ERROR b: x\n2024-01-02 03:00:00 ERROR b,c: y\n")
    v.equal(got, "2024-01-02 03:00:00 ERROR b: x\n", "a comma in a name")


@v.check("counts-nowhere")
def counts_nowhere() -> None:
    """Left out means left out of every figure, the bad lines too."""
    want = summary(3, ("03:10:00", "04:30:00", 4800), "FATAL 1, ERROR 2", "A 1, (others) 2")
    v.equal(report(["summary", "-x", "a", "-n", "1"], LOG), want, "summary")
    got = report(["summary", "-l", "fatal", "-x", "ab"], LOG, status=1)
    v.equal(got, "no entries (bad lines: 1)\n", "nothing left")


@v.check("one-call-only")
def one_call_only() -> None:
    """Calls in one process do not reach each other."""
    calls = [["summary", "-x", "q", "q.log"], ["summary", "q.log"], ["hours", "-x", "r", "q.log"]]
    got = v.calls(
        "logreport", "main", [([argv], {}) for argv in calls], files={"q.log": "2024-01-02 03:00:00 INFO q: x\n"}
    )
    v.equal(got, [1, 0, 0], "status of three calls")


@v.check("old-behaviour")
def old_behaviour() -> None:
    """Without -x nothing changes; errors of usage are as before."""
    want = summary(5, ("03:00:00", "05:00:00", 7200), "FATAL 1, ERROR 2, WARN 1, INFO 1", "a 2, A 1, ab 1, b 1")
    v.equal(report(["summary"], LOG), want, "summary")
    result = v.python(["logreport.py", "hours", "-q", "in.log"], files={"in.log": LOG})
    usage = "usage: logreport.py COMMAND [-l LEVEL] [-n COUNT] FILE\n"
    v.equal(result.stderr.decode(errors="replace"), "logreport: option -q not recognized\n" + usage, "usage")
    v.equal([result.status, result.stdout], [2, b""], "status and output")


@v.check("own-suite")
def own_suite() -> None:
    """The program's own tests, as they were handed out, still pass."""
    result = v.ok(v.python(["-m", "unittest", "tests.test_characterization"], files=SUITE))
    if b"\nRan 10 tests" not in result.stderr:
        raise Failed("the suite did not run all of its 10 tests")


v.finish()
