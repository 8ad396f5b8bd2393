"""Reports at the edges: hardly any data, and very much of it."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from fairtrial.analysis import arms, compare, dataset, dataset_tables, scorecard, scorecard_files
from fairtrial.analysis.report import curves, html, render, summary
from fairtrial.analysis.report.sections import failures
from fairtrial.contracts import records

from tests import fabricate


def built(root, **how):
    """The report folder of a fabricated tree, all three stages."""
    matrix = how.pop("matrix", None) or fabricate.tree(root, **how)
    out = root / "out"
    dataset.build(root, matrix, out)
    frame = dataset_tables.frame(out / "attempts.parquet")
    scorecard_files.write(scorecard.build(frame, matrix), out)
    pairs = compare.all_pairs(frame, {"adapters": arms.roles(matrix)})
    records.dump(out / "comparisons.json", pairs, durable=False)
    render.build(out, out, matrix, root, out)
    return out


def text_of(path):
    """The file's text on one line."""
    return " ".join(path.read_text(encoding="utf-8").split())


def test_the_smallest_difference_is_said_of_what_was_scored(tmp_path):
    """Five planned repetitions of which about half ran: the sentence names the scored attempts it was computed from."""
    settings = fabricate.Settings(missing=0.5)
    out = built(tmp_path, tasks=9, repetitions=5, arms=fabricate.ARMS_3X2[:2], settings=settings)
    table = json.loads((out / "report.json").read_bytes())["comparisons"]["tables"][0]
    found = table["detectable"]
    assert found["attempts"] < 5
    size = f"With {found['tasks']} tasks and {found['attempts']} scored attempt{'s' * (found['attempts'] > 1)} of each"
    said = f"{size}, differences below about {round(100 * found['planned'])} points will usually go undetected."
    assert said in text_of(out / "report.md")
    assert said in text_of(out / "index.html")
    assert "The interval holds at 95%." in text_of(out / "report.md")


def test_nothing_is_promised_where_nothing_can_be_found(tmp_path):
    """Two tasks with one attempt: no difference above 100 points, no empty brackets."""
    out = built(tmp_path, tasks=2, repetitions=1, arms=fabricate.ARMS_3X2[:2])
    said = text_of(out / "report.md")
    assert "even the largest difference there can be will usually go undetected" in said
    assert "(no interval below five tasks)" in said
    assert "survive correction for the one pair." in said
    assert not re.search(r"\[\u2013, \u2013\]|\u2013 to \u2013|[2-9]\d\d points", said)


def test_large_counts_keep_their_columns(tmp_path):
    """Six-digit counts stand apart from the rate, the cost is whole, and no line is wider than 80 columns."""
    report = render.read(built(tmp_path, tasks=1, repetitions=1, arms=fabricate.ARMS_3X2[:2]), tmp_path / "out",
                         json.loads((tmp_path / "default" / "matrix.json").read_bytes()))  # fmt: skip
    for arm, passes in zip(report.ranked, (999_999, 7), strict=True):
        report.card(arm).update(passes=passes, scored=1_000_000, cost_per_success_usd=12.5, pass_rate=0.62)
    lines = summary.text(report).splitlines()
    rows = [line for line in lines if "/1000000" in line]
    assert [re.search(r" 62% +(\d+)/1000000 ", line)[1] for line in rows] == ["999999", "7"]
    assert all(line.endswith(" $12.50") for line in rows)
    assert max(map(summary.columns, lines)) <= 80


@pytest.mark.parametrize("label", ["x", "harness-of-a-long-name"])
def test_names_beside_curves_stand_inside_the_chart(tmp_path, label):
    """The chart is as wide as its card, and a name at the end of a curve ends before the chart does."""
    arms_ = (fabricate.Arm(f"{label}-1", "m"), fabricate.Arm(f"{label}-2", "m"))
    page = text_of(built(tmp_path, tasks=2, repetitions=2, arms=arms_) / "index.html")
    chart = re.search(r'aria-label="Share green by time.*?</svg>', page)[0]
    width = float(re.search(r' width="([0-9.]+)"', chart)[1])
    names = re.findall(r'<text x="([0-9.]+)"[^>]*class="k b c\d">([^<]+)<', chart)
    assert width == 506 and len({name for _, name in names}) == 2
    assert all(float(x) + 8 * len(name) <= width for x, name in names)


def test_marks_of_direction_and_lines_are_shown():
    """Every direction control of Unicode and both line separators become code points."""
    marks = "\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069"
    assert html.visible(marks) == "".join(f"\u27e8U+{ord(mark):04X}\u27e9" for mark in marks)


def test_a_pair_with_the_sign_of_its_mean(tmp_path):
    """The difference of mean times has a sign in both directions, so that "later" cannot be read as a duration."""
    arms_ = (fabricate.Arm("a", "m", 0.2), fabricate.Arm("b", "m", 0.99))
    page = text_of(built(tmp_path, tasks=6, repetitions=4, arms=arms_) / "index.html")
    row = page[page.index('id="pairs"') :]
    assert re.search(r'<td class="n" data-v="[0-9.]+">\+[0-9.]+ min</td>', row)


def test_what_is_not_shown_is_counted(tmp_path):
    """More pairs, separated ones and tasks than fit: each output says how many it leaves out, separated pairs first."""
    good = tuple(fabricate.Arm(f"good-{n}", "m", 1.0) for n in range(5))
    bad = tuple(fabricate.Arm(f"bad-{n}", "m", 0.0) for n in range(5))
    out = built(tmp_path, tasks=62, repetitions=1, arms=good + bad, settings=fabricate.Settings(budget_share=0))
    markdown = (out / "report.md").read_text()
    assert markdown.count("- and 15 more pairs in index.html and report.json") == 2
    first = next(line for line in markdown.splitlines() if " points [" in line)
    assert first.endswith(": separated")
    assert "and 19 more" in text_of(out / "summary.txt")
    assert "Not drawn: 2 more tasks." in text_of(out / "index.html")


def test_an_arm_outside_the_plane_says_what_it_lacks(tmp_path):
    """k above the attempts, no known cost and a cost of nothing are three reasons; excluded attempts draw no task."""
    arms_ = (
        fabricate.Arm("a", "m", 1.0),
        fabricate.Arm("b", "m", 1.0, usd=None),
        fabricate.Arm("c", "m", 1.0, usd=0.0),
    )
    settings = fabricate.Settings(budget_share=0)
    out = built(tmp_path / "1", tasks=2, repetitions=2, arms=arms_, k=(4,), settings=settings)
    said = text_of(out / "index.html")
    assert "Not drawn, for no task with 4 scored attempts: a m." in said
    assert "Not drawn, for no task with 4 scored attempts and no success of known cost: b m." in said
    assert "Not drawn, for no task with 4 scored attempts and a cost of nothing: c m." in said
    settings = fabricate.Settings(budget_share=0, excluded=1)
    root = tmp_path / "2"
    kept = fabricate.tree(root, tasks=1, repetitions=1, arms=arms_[:1], suite="kept")
    left = fabricate.tree(root, tasks=2, repetitions=1, arms=arms_[:1], suite="left", settings=settings)
    matrix = fabricate.matrix_of(kept["cells"] + left["cells"][1:])
    page = text_of(built(root, matrix=matrix) / "index.html")
    dots = page[page.index('id="time-spent"') : page.index("Median seconds over green attempts")]
    assert "fix-failing-test" in dots
    assert "slugify-to-spec" not in dots


def test_a_selection_has_the_title_of_its_manifest(tmp_path):
    """The title of a manifest heads the page, as text; without one it says what it is."""
    matrix = fabricate.tree(tmp_path, tasks=1, repetitions=1, arms=fabricate.ARMS_3X2[:1])
    out = built(tmp_path, matrix=matrix)
    for title, shown in (({"title": "<b>Before</b>"}, "&lt;b&gt;Before&lt;/b&gt;"), ({}, "Chosen attempts")):
        render.build(out, out, matrix | title, tmp_path, out, chosen=True)
        assert f"<h1>{shown}</h1>" in text_of(out / "index.html")


def test_pass_hat_k_says_of_how_many_tasks(tmp_path):
    """Two of three tasks have four scored attempts: page and report.md say so, the summary marks the figure."""
    arm = fabricate.Arm("a", "m", 1.0)
    settings = fabricate.Settings(budget_share=0)
    whole = fabricate.tree(tmp_path, tasks=2, repetitions=4, arms=(arm,), settings=settings)
    short = fabricate.tree(tmp_path, tasks=3, repetitions=3, arms=(arm,), settings=settings, suite="other")
    matrix = fabricate.matrix_of(whole["cells"] + short["cells"][2:], k=(4,))
    out = built(tmp_path, matrix=matrix)
    assert "100% (2 of 3 tasks)" in text_of(out / "index.html")
    assert "100% \\(2 of 3 tasks\\)" in text_of(out / "report.md")
    assert " 100%* " in text_of(out / "summary.txt")
    assert "*: over fewer tasks, those with 4 scored attempts or more" in text_of(out / "summary.txt")


def test_arms_on_different_tasks_are_said_above_the_numbers(tmp_path):
    """One arm with a second suite: the banner says how many tasks each has; equal sets are not worth a word."""
    arms_ = (fabricate.Arm("a", "m"), fabricate.Arm("b", "m"))
    both = fabricate.tree(tmp_path, tasks=3, repetitions=1, arms=arms_)
    more = fabricate.tree(tmp_path, tasks=2, repetitions=1, arms=arms_[:1], suite="other")
    words = "Arms stand on different tasks"
    assert words not in text_of(built(tmp_path, matrix=both) / "index.html")
    out = built(tmp_path, matrix=fabricate.matrix_of(both["cells"] + more["cells"]))
    for name in ("index.html", "report.md", "summary.txt"):
        assert words in text_of(out / name).replace("\\", ""), name
    assert f"{words} (3 to 5)" in text_of(out / "index.html")


def test_a_free_arm_lacks_no_cost(tmp_path):
    """The reference says `free` where a paid arm without costs is marked; one fault is one fault."""
    agents = (fabricate.Arm("alder", "m", usd=None, cost_known=0.0),
              fabricate.Arm("reference", "none", usd=None, cost_known=0.0, free=True))  # fmt: skip
    matrix = fabricate.tree(tmp_path, tasks=2, repetitions=2, arms=agents)
    first = sorted(tmp_path.glob("attempts/*/*/alder/*/*/r1"))[0]
    fabricate.fault(tmp_path, "/".join(first.parts[-6:]), matrix["cells"][0], 1, datetime(2026, 1, 1, tzinfo=UTC))
    shutil.rmtree(first)
    out = built(tmp_path, matrix=matrix)
    page, told = text_of(out / "index.html"), (out / "report.md").read_text()
    rows = [line for line in told.splitlines() if line.startswith(("| alder m", "| reference none"))]
    assert [line.rstrip(" |").split("| ")[-1] for line in sorted(rows[:2])] == ["0%", "free"]
    assert '<span class="pill warn">0%</span>' in page and page.count('<span class="pill warn">0/3</span>') >= 1
    assert '<span class="pill warn">0/4</span>' not in page.partition("Cost, US dollars")[2].partition("</tr>")[0]
    assert "1 infrastructure fault;" in page and "1 fault" in text_of(out / "summary.txt")
    assert "1 faults" not in text_of(out / "summary.txt")


def test_the_count_of_those_not_green_yet_is_exact():
    """A curve drawn with fewer steps than it has greens still counts every attempt below it."""
    times = [float(t) for t in range(1, 601)]
    drawn = curves.GreenCurve([(600.0, 1.0)], [], 600, times)
    assert [drawn.waiting(t) for t in (0.5, 1, 250, 599, 600)] == [600, 599, 350, 1, 0]


def test_no_interval_is_promised_where_there_is_none(tmp_path):
    """Below five tasks the page says so instead of a level, and a pair without a common task has no points."""
    arms_ = (fabricate.Arm("a", "m"), fabricate.Arm("b", "m"))
    first = fabricate.tree(tmp_path, tasks=1, repetitions=1, arms=arms_[:1])
    second = fabricate.tree(tmp_path, tasks=1, repetitions=1, arms=arms_[1:], suite="other")
    out = built(tmp_path, matrix=fabricate.matrix_of(first["cells"] + second["cells"]))
    page, told = text_of(out / "index.html"), text_of(out / "report.md")
    for said in (page, told):
        assert "No pair has the five common tasks that this takes." in said and "holds at 95%." not in said
    assert "a \u2212 b: no scored task in common: not separated, no winner" in told


def test_long_names_end_before_what_stands_beside_them(tmp_path):
    """Left of the bars of pass rates and above the panels of times, names are cut and stay different."""
    arms_ = [fabricate.Arm("harness-of-a-long-name", "model-of-a-long-name", 1.0, toolset=f"toolset-of-a-long-name-{n}",
                           version="1.0.0-nightly.20260101.abcdef") for n in (1, 2)]  # fmt: skip
    page = text_of(built(tmp_path, tasks=1, repetitions=1, arms=tuple(arms_)) / "index.html")
    for chart, marked, room, each in (("Pass rate with", "b", 216, 7.5), ("Pass rate with", "q s", 216, 6.1),
                                      ("Time to green of", r"k b c\d", 302, 7.5)):  # fmt: skip
        drawn = re.search(rf'aria-label="{chart}.*?</svg>', page)[0]
        names = re.findall(rf'<text x="[0-9.]+"[^>]*class="{marked}">(\w[^<]+)<', drawn)
        names = [name for name in names if "name" in name]
        assert len(names) == 2 and all(len(name) * each < room for name in names), names
        assert marked == "q s" or len(set(names)) == 2


def test_flaky_tasks_are_of_those_tried_twice(tmp_path):
    """A task with one attempt cannot be flaky, so it is not counted as one that is not."""
    arm = fabricate.Arm("a", "m", 1.0)
    settings = fabricate.Settings(budget_share=0)
    twice = fabricate.tree(tmp_path, tasks=2, repetitions=2, arms=(arm,), settings=settings)
    once = fabricate.tree(tmp_path, tasks=3, repetitions=1, arms=(arm,), settings=settings, suite="other")
    out = built(tmp_path, matrix=fabricate.matrix_of(twice["cells"] + once["cells"]))
    row = text_of(out / "index.html").partition("Flaky tasks")[2].partition("</tr></tbody>")[0]
    assert ">0/2<" in row and ">0/5<" not in row


def test_what_is_left_out_is_told_apart_by_toolset(tmp_path):
    """Two arms that differ in their toolset only have different names in the list."""
    arms_ = tuple(fabricate.Arm("a", "m", toolset=name) for name in ("git", "jj"))
    out = built(tmp_path, tasks=1, repetitions=1, arms=arms_, settings=fabricate.Settings(excluded=1))
    told = [entry["attempt"] for entry in json.loads((out / "report.json").read_bytes())["left_out"]]
    assert told == ["fix-failing-test, a (git) m, r1", "fix-failing-test, a (jj) m, r1"]


def test_a_shaded_cell_claims_no_end_that_is_not_exact():
    """299 passes of 300 are not 100, one is not 0, and all of them are."""
    for passes, shown in ((299, "&gt;99"), (1, "&lt;1"), (300, "100"), (0, "0")):
        outcomes = ["green"] * passes + ["red"] * (300 - passes)
        report = SimpleNamespace(scored=[True] * 300, columns={"outcome": outcomes})
        assert f">{shown}<" in failures._fraction(report, list(range(300)), 0, 0)
