"""Hidden checks of add-cli-flag: other texts and lists, and the default output byte for byte."""

from fairtrial.verify import Verification

v = Verification()


def words(argv: list[str], files: dict[str, str], stdin: str = "") -> str:
    """Standard output of `words.py ARGV`; status 0 and nothing on standard error."""
    result = v.ok(v.run(["python3", "words.py", *argv], files=files, stdin=stdin.encode()))
    v.equal(result.stderr, b"", "standard error")
    return result.text


def table(total: int, different: int, *rows: tuple[int, str, str]) -> str:
    """The whole output; a row is count, share and word."""
    lines = ["  count    share  word ", *(f"{count:>7}   {share:>5}%  {word} " for count, share, word in rows)]
    return "\n".join([*lines, "", f"{total} words, {different} different"]) + "\n"


@v.check("left-out")
def left_out() -> None:
    """Counts, shares, totals and --least all see the rest only; order stays that of appearance."""
    text = "b a c a b d e-f b it's b E-F x"
    want = table(6, 5, (2, "33.3", "a"), (1, "16.7", "c"), (1, "16.7", "d"), (1, "16.7", "it's"), (1, "16.7", "x"))
    v.equal(words(["--ignore", "i", "t"], {"t": text, "i": "b e-f"}), want, "b and e-f left out")
    got = words(["--least", "2", "t", "--ignore=i"], {"t": text, "i": "B\nIT'S\n"})
    v.equal(got, table(7, 5, (2, "28.6", "a"), (2, "28.6", "e-f")), "--least 2")
    got = words(["--ignore", "i"], {"i": "x it e f"}, stdin=text)
    want = table(
        11,
        6,
        (4, "36.4", "b"),
        (2, "18.2", "a"),
        (2, "18.2", "e-f"),
        (1, "9.1", "c"),
        (1, "9.1", "d"),
        (1, "9.1", "it's"),
    )
    v.equal(got, want, "standard input; parts of words are other words")


@v.check("lists")
def lists() -> None:
    """Several lists, several words a line, comments, capitals beyond ASCII, empty lists, nothing left."""
    files = {
        "t": "Über uns: one two three four five six",
        "i": "ÜBER, one;two # three\n#four\n",
        "j": "\n  five\tsix\n",
    }
    got = words(["--ignore", "i", "--ignore", "j", "t"], files)
    v.equal(got, table(3, 3, *((1, "33.3", word) for word in ("uns", "three", "four"))), "two lists")
    got = words(["--ignore", "i", "t"], {"t": "a b", "i": "# a b\n"})
    v.equal(got, table(2, 2, (1, "50.0", "a"), (1, "50.0", "b")), "a list of comments")
    v.equal(words(["--ignore", "t", "t"], {"t": "only these words"}), table(0, 0), "nothing left")


@v.check("errors")
def errors() -> None:
    """A list that is not there is reported by its name, in the form of the other error."""
    for argv, name in (
        (["--ignore", "nope", "t"], "nope"),
        (["--ignore", "t", "--ignore", "nix"], "nix"),
        (["gone"], "gone"),
    ):
        result = v.run(["python3", "words.py", *argv], files={"t": "a b"}, stdin=b"a")
        v.equal([result.status, result.stdout], [2, b""], f"status and output of {argv}")
        want = f"words.py: {name}: No such file or directory\n"
        v.equal(result.stderr.decode(errors="replace"), want, f"standard error of {argv}")


@v.check("default-output")
def default_output() -> None:
    """Without the flag every byte is what it was: blanks at line ends, ties, # in texts, several files, empty input."""
    text = "B a # b the\nA b' -c- d_e 1f\n"
    rows = [(3, "30.0", "b"), (2, "20.0", "a"), *((1, "10.0", word) for word in ("the", "c", "d", "e", "f"))]
    v.equal(words(["t"], {"t": text}), table(10, 7, *rows), "one file")
    v.equal(words(["t", "u", "--least", "3"], {"t": "x y", "u": "x\nX"}), table(4, 2, (3, "75.0", "x")), "two files")
    v.equal(words([], {}), table(0, 0), "empty input")


v.finish()
