"""The report as Snakemake sees it: `snakemake --report`, deleted files that come back, unreadable records."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.lab import Lab

CATEGORIES = {
    "results/default/report/index.html": ("Report", "What this experiment can say"),
    "results/default/report/summary.txt": ("Report", "eighty columns"),
    "results/default/scorecard/scorecard.csv": ("Scorecard", "One row per arm"),
    "results/default/scorecard/comparisons.json": ("Scorecard", "Every pair of arms"),
    "results/default/dataset/time-to-green.csv": ("Data", "One row per planned attempt"),
    "results/default/dataset/problems.json": ("Data", "could not be read in full"),
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """One finished experiment: two tasks, the reference and the noop, two repetitions."""
    lab = Lab(tmp_path_factory.mktemp("ran"), config={"harnesses": ["reference", "noop"]})
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    return lab


def embedded(page: str, name: str) -> Any:
    """A value that Snakemake's page carries as JSON."""
    begin = f"var {name} = "
    return json.JSONDecoder().raw_decode(page, page.index(begin + '{"') + len(begin))[0]


def content(path: Path) -> Any:
    """The bytes; of report.json all but the digests of the code, which may be edited meanwhile."""
    if path.name != "report.json":
        return path.read_bytes()
    return {key: value for key, value in json.loads(path.read_bytes()).items() if key != "measured_with"}


def test_the_report_of_snakemake_has_categories_and_captions(ran: Lab) -> None:
    """`snakemake --report out.html` embeds what a reader wants first, each in a category and with a caption."""
    done = ran.snakemake("--report", "out.html")
    assert done.returncode == 0, done.stderr
    text = (ran.folder / "out.html").read_text(encoding="utf-8")
    found, shown = (embedded(text, name) for name in ("results", "categories"))
    assert set(found) == set(CATEGORIES)
    for path, (category, words) in CATEGORIES.items():
        assert words in " ".join(found[path]["caption"].split()), path
        assert found[path]["labels"]["file"]
        assert path in json.dumps(shown[category])
    assert "Coding-agent programs measured on the same tasks" in text
    assert ran.planned() == {}


def test_every_file_of_tables_scorecard_and_report_comes_back(ran: Lab) -> None:
    """Whichever one is deleted, the same command writes it again with the same bytes, and no attempt or grade runs."""
    made = ran.results / "default"
    files = [p for name in ("dataset", "scorecard", "report") for p in (made / name).rglob("*") if p.is_file()]
    ours = [path for path in files if "shards" not in path.parts]  # a cache: read again, never missed
    assert sum(path.parent.name == "r1" or path.name == "r1.html" for path in ours) == 4
    before = {path: content(path) for path in ours}
    for chosen in (made / "scorecard" / "comparisons.json", *sorted((made / "report").rglob("r2.html"))[:1]):
        chosen.unlink()
        assert not {"attempt", "grade"} & ran.planned().keys()
        assert ran.snakemake().returncode == 0
        assert content(chosen) == before[chosen]
    for path in ours:
        path.unlink()
    listed = ran.snakemake("-n", "--quiet", "rules").stdout + ran.snakemake("-n").stdout
    for path in ours:
        assert str(path.relative_to(ran.folder)) in listed, path
    assert set(ran.planned()) == {"dataset", "scorecard", "report", "all"}
    assert ran.snakemake().returncode == 0
    assert {path: content(path) for path in ours} == before
    assert ran.planned() == {}


def test_an_unreadable_record_has_a_page_that_says_so(tmp_path: Path) -> None:
    """A result that is no JSON costs its own row only: the report is whole and the attempt's page names the file."""
    lab = Lab(tmp_path, ["one"])
    assert lab.snakemake().returncode == 0
    broken = next(lab.results.glob("attempts/*/*/*/*/*/r2/grades/*/result.json"))
    broken.write_text("{")
    for verb in ("dataset", "scorecard", "report"):  # the whole command would grade it again first
        done = lab.fairtrial(verb)
        assert done.returncode == 0, done.stderr
    page = next((lab.results / "default" / "report" / "attempts").rglob("r2.html")).read_text(encoding="utf-8")
    assert re.search(r"Could not be read: attempts/\S+/result\.json: is not whole JSON", page)
