"""The report as files: reproducible, self-contained, thirteen sections, and honest about what it rests on."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fairtrial.analysis import arms, compare, dataset, dataset_tables, scorecard, scorecard_files
from fairtrial.analysis.report import html, page, render, summary
from fairtrial.contracts.records import file_digest

from tests import fabricate

HOSTILE = [json.loads(line)["title"] for line in
           (Path(__file__).parents[1] / "data" / "hostile" / "texts.jsonl").read_text().splitlines()]  # fmt: skip
TITLES = [
    "What this run can say", "Scorecard", "How often does it pass?", "How long to green?", "Which attempts failed?",
    "Is reliability worth the price?", "How much does a rerun vary?", "Paired comparisons", "Where does the time go?",
    "How much effort did it take?", "Were the rules kept?", "What was measured?",
    "What was left out, and what was in force?",
]  # fmt: skip


def built(root, out=None, so_far=False, **how):
    """Fabricate, run the stages, render; returns the folder of the report."""
    matrix = fabricate.tree(root, **how)
    experiment = root / "default"
    dataset.build(root, matrix, experiment / "dataset")
    frame = dataset_tables.frame(experiment / "dataset" / "attempts.parquet")
    scorecard_files.write(scorecard.build(frame, matrix), experiment / "scorecard")
    pairs = compare.all_pairs(frame, {"adapters": arms.roles(matrix)})
    (experiment / "scorecard" / "comparisons.json").write_text(json.dumps(pairs))
    out = out or experiment / "report"
    render.build(experiment / "dataset", experiment / "scorecard", matrix, root, out, so_far=so_far)
    return out


@pytest.fixture(scope="module")
def busy(tmp_path_factory):
    """A run in which everything happens, once."""
    root = tmp_path_factory.mktemp("busy") / "results"
    settings = fabricate.Settings(faults=0.04, missing=0.04, excluded=0.04, unscored=0.04, redone=0.04)
    weak = fabricate.Arm("dogwood", "m-small", 0.5, simulated=True, backend="plain", degraded=("no user namespaces",))
    return built(root, tasks=6, repetitions=4, arms=(*fabricate.ARMS_3X2[:4], weak), settings=settings)


class Elements(HTMLParser):
    """Every start tag with its attributes, and the text outside script and style."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.said, self.inside = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Keep it."""
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        """Leave script and style."""
        self.inside = ""

    def handle_data(self, data):
        """Keep visible text."""
        if self.inside not in ("script", "style"):
            self.said.append(data)


def text_of(path):
    """The file's text."""
    return path.read_text(encoding="utf-8")


def test_thirteen_sections_in_their_order(busy):
    """Each section answers its question in the order of the statistics page."""
    heads = re.findall(r"<h2[^>]*>([^<]+)", text_of(busy / "index.html"))
    unique = list(dict.fromkeys(head.strip() for head in heads))
    assert unique == TITLES


def test_equal_input_gives_equal_bytes(busy, tmp_path):
    """Nothing in the files depends on when or where they are rendered."""
    root = busy.parents[1]
    matrix = json.loads((root / "default" / "matrix.json").read_bytes())
    render.build(root / "default" / "dataset", root / "default" / "scorecard", matrix, root, tmp_path)
    for name in ("index.html", "report.md", "report.json", "summary.txt"):
        assert (tmp_path / name).read_bytes() == (busy / name).read_bytes(), name
    pages = sorted(path.relative_to(busy) for path in busy.rglob("attempts/**/*.html"))
    assert pages
    assert all((tmp_path / name).read_bytes() == (busy / name).read_bytes() for name in pages)


def test_one_file_without_a_network(busy):
    """No address is loaded, no inline style or handler is there, and the policy's hashes are those of the texts."""
    text = text_of(busy / "index.html")
    found = Elements(text)
    for tag, attributes in found.tags:
        assert not {"style", "src", "srcset", "action"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)
        if tag in ("a", "use", "link"):
            assert not re.match(r"[a-z]+:(?!,)", attributes.get("href", "")) or attributes["href"] == "data:,"
    style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
    script = re.search(r"<script>(.*?)</script>", text, re.S)[1]
    for body in (style, script):
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in html.standard.unescape(text)
    assert "default-src 'none'" in page.policy()
    assert (busy / "index.html").stat().st_size < 300_000


def test_what_must_be_seen_is_seen(busy):
    """Simulated numbers, degraded isolation, missing costs, excluded, redone, unscored and faults stand on the page."""
    said = " ".join(" ".join(Elements(text_of(busy / "index.html")).said).split())
    for words in (
        "Simulated: dogwood m-small is generated, not measured",
        "Degraded isolation of dogwood m-small: no user",
        "the office network was down",
        "wrong account (cost $0.10",
        "verifier_error",
        "You have reached your weekly limit",
        "not checked",
        "had all failed",
        "The order of the rows is not a ranking",
    ):
        assert words in said, words
    assert re.search(r"Cost known for some attempts only|pill warn", text_of(busy / "index.html"))
    assert "- alder \u2212 birch with m\\-large: " in text_of(busy / "report.md")


def test_simulated_arms_meet_no_measured_one(busy):
    """dogwood is simulated, so no comparison holds it and another arm."""
    record = json.loads((busy / "report.json").read_bytes())
    for table in record["comparisons"]["tables"]:
        for pair in table["pairs"]:
            assert pair["a"]["simulated"] == pair["b"]["simulated"]


def test_report_json_names_its_sources(busy):
    """Digests of every table, of the matrix and of the code that measured; and every number of the scorecard."""
    record = json.loads((busy / "report.json").read_bytes(), parse_constant=pytest.fail)
    tables = busy.parent / "dataset"
    assert record["sources"] == {path.name: file_digest(path) for path in sorted(tables.glob("*.parquet"))}
    assert record["scorecard"] == json.loads((busy.parent / "scorecard" / "scorecard.json").read_bytes())
    assert set(record["measured_with"]) == {"capture", "instruments", "grading", "harnesses", "wire", "analysis"}
    assert record["attempts"]["planned"] == 120
    assert sum(record["attempts"][k] for k in ("done", "fault", "not_run", "excluded", "problem")) == 120


EDGES = {
    "one attempt": {"tasks": 1, "repetitions": 1, "arms": fabricate.ARMS_3X2[:1]},
    "no green": {"tasks": 2, "repetitions": 2, "arms": (fabricate.Arm("a", "m", passes=0.0),)},
    "all green": {"tasks": 6, "repetitions": 2, "arms": (fabricate.Arm("a", "m", passes=1.0),),
                  "settings": fabricate.Settings(budget_share=0)},
    "nothing has run": {"tasks": 2, "repetitions": 2, "settings": fabricate.Settings(missing=1.0)},
    "nothing but faults": {"tasks": 2, "repetitions": 2, "settings": fabricate.Settings(faults=1.0)},
    "nothing scored": {"tasks": 2, "repetitions": 1,
                       "settings": fabricate.Settings(unscored=1.0, budget_share=0),
                       "arms": (fabricate.Arm("a", "m", passes=1.0),)},
    "no cost": {"tasks": 5, "repetitions": 2, "arms": (fabricate.Arm("a", "m", usd=None),)},
    "forty arms": {"tasks": 2, "repetitions": 1,
                   "arms": tuple(fabricate.Arm(f"h-{n:02d}", f"m-{n % 3}") for n in range(40))},
    "two toolsets, cold and warm": {"tasks": 2, "repetitions": 2, "arms": tuple(
        fabricate.Arm("a", "m", toolset=t, adoption=a) for t in ("git", "jj") for a in ("cold", "warm"))},
    "measured and simulated of one name": {"tasks": 2, "repetitions": 2, "arms": (
        fabricate.Arm("a", "m"), fabricate.Arm("a", "m", simulated=True))},
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_every_shape_of_run_has_a_report(tmp_path, name):
    """Few or many arms, no result, no green, no cost: every file is written, and no NaN is in one."""
    out = built(tmp_path / "results", **EDGES[name])
    text = text_of(out / "index.html")
    for title in TITLES:
        assert title in text
    for file in ("index.html", "report.md", "report.json", "summary.txt"):
        assert not re.search(r"\b(nan|NaN|None|inf)\b", text_of(out / file)), file
    assert not re.search(r"\d ?% of 0\b", text), "0 of 0 is unknown, not 0 %"
    assert max(summary.columns(line) for line in text_of(out / "summary.txt").splitlines()) <= 80


def test_a_run_so_far_says_so_first(tmp_path):
    """41 of 90 attempts is the title of an unfinished run, on the page, in Markdown and in the terminal."""
    arms_ = tuple(fabricate.Arm(f"h{n}", "m") for n in range(3))
    root = tmp_path / "results"
    fabricate.tree(root, tasks=10, repetitions=3, arms=arms_)
    sealed = sorted(root.glob("attempts/*/*/*/*/*/r*/grades/*/result.json"))
    for path in sealed[41:]:
        path.unlink()
    matrix = json.loads((root / "default" / "matrix.json").read_bytes())
    out = tmp_path / "out"
    dataset.build(root, matrix, out / "dataset")
    scorecard_files.write(
        scorecard.build(dataset_tables.frame(out / "dataset" / "attempts.parquet"), matrix), out / "card"
    )
    render.build(out / "dataset", out / "card", matrix, root, out / "report", so_far=True)
    assert "<h1>41 of 90 attempts</h1>" in text_of(out / "report" / "index.html")
    assert text_of(out / "report" / "report.md").startswith("# 41 of 90 attempts\n")
    assert text_of(out / "report" / "summary.txt").startswith("41 of 90 attempts\n")


def test_above_two_thousand_attempts_cells_are_shaded(tmp_path):
    """A large run shows one fraction per cell and writes no attempt pages."""
    bare = fabricate.Settings(side_files=False)
    out = built(tmp_path / "results", tasks=4, repetitions=130, arms=fabricate.ARMS_3X2[:4], settings=bare)
    assert not (out / "attempts").exists()
    assert 'class="shade"' in text_of(out / "index.html")
    assert "attempts/" not in text_of(out / "index.html").split("<main>")[1]


def test_attempt_pages_hold_the_evidence(busy):
    """Events, commands, diff, checks and versions of one attempt, and only what changed is written again."""
    path = sorted((busy / "attempts").rglob("*.html"))[0]
    said = " ".join(Elements(text_of(path)).said)
    for words in (
        "I shall look at the tests first.",
        "git status",
        "diff --git",
        "acceptance",
        "canary home absent",
        "Bash",
    ):
        assert words in said, words
    before = {p: p.stat().st_mtime_ns for p in (busy / "attempts").rglob("*.html")}
    root = busy.parents[1]
    matrix = json.loads((root / "default" / "matrix.json").read_bytes())
    render.build(root / "default" / "dataset", root / "default" / "scorecard", matrix, root, busy)
    assert {p: p.stat().st_mtime_ns for p in (busy / "attempts").rglob("*.html")} == before


def test_hostile_titles_stay_text_everywhere(tmp_path):
    """Markup, pipes, templates, escapes and control characters are shown and do nothing."""
    titles = dict(zip(fabricate.task_names(17), HOSTILE, strict=True))
    settings = fabricate.Settings(
        titles=titles, final_text="\n".join(HOSTILE), extra_notes=tuple(HOSTILE), excluded=0.5
    )
    out = built(tmp_path / "results", tasks=17, repetitions=1, arms=fabricate.ARMS_3X2[:1], settings=settings)
    pages = [out / "index.html", *(out / "attempts").rglob("*.html")]
    for path in pages:
        found = Elements(text_of(path))
        assert not {tag for tag, _ in found.tags} & {"img", "iframe", "object", "embed", "form", "b-injected"}
        assert sum(tag == "script" for tag, _ in found.tags) == 1
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", text_of(path))
    said = [" ".join(Elements(text_of(path)).said) for path in pages]
    for words in ("<script>alert(1)</script>", "{{ 7*7 }} {% raw %}", "&lt;b&gt; already escaped"):
        assert any(words in text for text in said), words


LONG = [f"{'harness-of-a-long-name-' * 2}{tail}" for tail in ("alpha", "beta")]


def test_long_names_stay_different(tmp_path):
    """Harnesses, models and tasks whose names begin alike are told apart in the summary and in the charts."""
    arms_ = tuple(fabricate.Arm(harness, f"model-with-a-long-name-{size}") for harness in LONG for size in "ab")
    out = built(tmp_path / "results", tasks=6, repetitions=2, arms=arms_)
    lines = text_of(out / "summary.txt").splitlines()
    first = lines.index(next(line for line in lines if line.startswith("configuration"))) + 1
    assert len({line[:26] for line in lines[first : first + 4]}) == 4
    drawn = set(re.findall(r"<text[^>]*>(harness-[^<]*)<", text_of(out / "index.html")))
    assert all(len({text for text in drawn if len(text) == width}) in (0, 2, 4) for width in (16, 18, 22, 24))
    assert max(summary.columns(line) for line in lines) <= 80


def test_an_arm_of_two_versions_is_marked(tmp_path):
    """Attempts of one arm in two harness versions: (mixed) in the summary, on the page and in Markdown."""
    root = tmp_path / "results"
    built(root, tasks=5, repetitions=2, arms=fabricate.ARMS_3X2[:2])
    for path in sorted(root.glob("attempts/*/*/alder/*/*/r2/grades/*/result.json")):
        path.write_text(path.read_text().replace('"2.1.0"', '"2.2.0"'))
    matrix = json.loads((root / "default" / "matrix.json").read_bytes())
    out = tmp_path / "out"
    dataset.build(root, matrix, out)
    scorecard_files.write(scorecard.build(dataset_tables.frame(out / "attempts.parquet"), matrix), out)
    render.build(out, out, matrix, root, out)
    said = "Mixed: alder m-large ran in the harness versions 2.1.0 and 2.2.0; its figures pool them."
    assert said in " ".join(text_of(out / "summary.txt").split())
    assert re.search(r"^alder m-large \(mixed\) ", text_of(out / "summary.txt"), re.M)
    assert said in text_of(out / "index.html")
    assert "mixed</span>" in text_of(out / "index.html")
    markdown = text_of(out / "report.md").replace("\\", "")
    assert "alder m-large (mixed)" in markdown
    assert "birch m-large (mixed)" not in markdown
