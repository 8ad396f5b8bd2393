"""A busy machine bends times, so an attempt says when it ran on one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fairtrial.analysis import dataset, dataset_tables, scorecard, scorecard_files
from fairtrial.analysis.report import render
from fairtrial.grading.record import crowded, highest_load

from tests import fabricate


@pytest.mark.parametrize(("start", "end", "noted"), [(0.2, 1.5, False), (0.2, 1.6, True), (2.0, None, True)])
def test_a_load_above_one_and_a_half_per_cpu_is_noted(start: float, end: float | None, noted: bool) -> None:
    """At the start or at the end; exactly 1.5 is not above it."""
    notes = crowded(highest_load({"load_start": start, "load_end": end}))
    assert bool(notes) is noted
    assert all("per CPU" in note for note in notes)


def test_an_unknown_load_says_nothing() -> None:
    """Where the system has no load average there is no note."""
    assert crowded(highest_load({"load_start": None, "load_end": None})) == []


def test_the_report_counts_the_attempts_whose_times_a_load_may_have_bent(tmp_path: Path) -> None:
    """Two of four ran above 1.5 per CPU: the page says so; without any it says nothing of it."""
    root, out = tmp_path / "results", tmp_path / "out"
    matrix = fabricate.tree(root, tasks=2, repetitions=2, arms=fabricate.ARMS_3X2[:1])
    said = []
    for loads in ("0.3", "1.6"):
        for path in sorted(root.glob("attempts/*/*/*/*/*/r2/grades/*/result.json")):
            path.write_text(re.sub(r'"load": ?0\.3', f'"load":{loads}', path.read_text()))
        dataset.build(root, matrix, out)
        scorecard_files.write(scorecard.build(dataset_tables.frame(out / "attempts.parquet"), matrix), out)
        render.build(out, out, matrix, root, out)
        page = (out / "index.html").read_text(encoding="utf-8")
        said.append("2 run at a load above 1.5 per CPU, which may have lengthened their times" in page)
    assert said == [False, True]
