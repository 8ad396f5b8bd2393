"""What counts in no rate was paid all the same, so the report says what it cost."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from fairtrial.analysis import dataset, dataset_tables, scorecard, scorecard_files
from fairtrial.analysis.report import render
from fairtrial.contracts.records import dump

from tests import fabricate


def test_faults_and_excluded_attempts_show_what_they_cost(tmp_path: Path) -> None:
    """Behind the message or the reason; where the cost is not known nothing is said, and never zero."""
    root, out = tmp_path / "results", tmp_path / "out"
    matrix = fabricate.tree(root, tasks=1, repetitions=4, arms=fabricate.ARMS_3X2[:1])
    sealed = sorted(root.glob("attempts/*/*/*/*/*/r*/evidence.json"))
    dump(sealed[0].with_name("exclude.json"), {"reason": "a person helped", "at": "2026-01-01T00:00:00.000Z"})
    key = "/".join(sealed[1].parts[-7:-1])
    for usd, message in ((0.0421, "no credit"), (None, "gone")):
        fabricate.fault(root, key, matrix["cells"][0], 2, datetime(2026, 1, 1, tzinfo=UTC))
        path = root / "faults" / key / "20260105T091200Z-1" / "fault.json"
        folder = path.parent.with_name(path.parent.name + message[:2])
        dump(folder / "fault.json", {**json.loads(path.read_bytes()), "cost_usd": usd, "message": message})
        path.unlink()
    dataset.build(root, matrix, out)
    scorecard_files.write(scorecard.build(dataset_tables.frame(out / "attempts.parquet"), matrix), out)
    render.build(out, out, matrix, root, out)
    page = (out / "report.md").read_text(encoding="utf-8").replace("\\", "")
    assert "no credit (cost $0.042)" in page
    assert "gone\n" in page
    assert "excluded: a person helped (cost $" in page
