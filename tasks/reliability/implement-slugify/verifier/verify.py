"""Hidden checks of implement-slugify: each rule of the description with other titles."""

from fairtrial.verify import Verification

v = Verification()


def slugs(wanted: dict[str, str], longest: int | None = None) -> None:
    """slugify of each title is the slug beside it."""
    calls = [([title], {} if longest is None else {"longest": longest}) for title in wanted]
    for (title, want), got in zip(wanted.items(), v.calls("slugs", "slugify", calls), strict=True):
        v.equal(got, want, f"slugify({title!r}, longest={longest})")


@v.check("signs")
def signs() -> None:
    """Runs of signs, underscores, digits, ends, apostrophes of both kinds."""
    slugs({"a_b__c": "a-b-c", "--x--": "x", "A&B / C": "a-b-c", "tab\there\nnow": "tab-here-now", "007": "007"})
    slugs(
        {"rock 'n' roll": "rock-n-roll", "it’s 5 o’clock": "its-5-oclock", "'quoted'": "quoted", "50% off!": "50-off"}
    )


@v.check("unicode")
def unicode() -> None:
    """Folding, decomposition, combining marks, letters without a plain form."""
    slugs({"STRASSE Straße": "strasse-strasse", "Ångström": "angstrom", "ﬁne x²": "fine-x2", "e\u0301te\u0301": "ete"})
    slugs(
        {"naïve—yes": "naive-yes", "日本 a 語": "a", "Łódź": "odz", "٣ three": "three", "Ⅷ": "viii", "İzmir": "izmir"}
    )


@v.check("longest")
def longest() -> None:
    """Cut between words where that is possible, inside the first word where it is not."""
    slugs({"one two three": "one-two", "one two": "one-two", "one-twothree": "one"}, 7)
    slugs(
        {"incomprehensible": "incom", "a b c d": "a-b-c", "abcde f": "abcde", "abcdef g": "abcde", "ab cd": "ab-cd"}, 5
    )
    slugs({"x y": "x", "yes": "y"}, 1)
    for bad in (0, -3):
        v.raises("ValueError", "slugs", "slugify", ["a", bad])


@v.check("nothing-left")
def nothing_left() -> None:
    """untitled, also when it is longer than longest."""
    slugs({"": "untitled", " ": "untitled", "'’'": "untitled", "語": "untitled", "---": "untitled"})
    slugs({"": "untitled", "…": "untitled"}, 3)


@v.check("pages-kept")
def pages_kept() -> None:
    """The files that were finished are as they were."""
    for name in ("pages.py", "README.md"):
        v.equal(v.text(name), (v.task / "workspace" / name).read_text(encoding="utf-8"), name)


v.finish()
