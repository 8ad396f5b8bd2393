"""A fault that only the grade found is the infrastructure's in every format."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

from fairtrial.__main__ import main

from tests import fabricate


def test_a_fault_found_at_grading_is_no_failure_of_the_agent(tmp_path: Path) -> None:
    """JUnit calls it an error by its name and message, and its unfinished change is no prediction."""
    root = tmp_path / "results"
    fabricate.tree(root, tasks=1, repetitions=2, arms=(fabricate.Arm("alder", "m", 1.0),))
    path = next(root.glob("attempts/*/*/*/*/*/r1/grades/*/result.json"))
    record = json.loads(path.read_bytes())
    record |= {"outcome": None, "scored": False, "green_at": None}
    record["performance"]["execution"] |= {"ending": "fault_found_at_grading", "ending_reason": "quota <b>"}
    record["performance"]["time_cost"]["seconds_to_green"] = None
    path.write_text(json.dumps(record))
    for kind in ("junit", "predictions"):
        given = ["export", kind, "--attempts", str(root), "--out", str(tmp_path / kind)]
        assert main(given) == 0
    (error,) = ET.parse(tmp_path / "junit" / "junit.xml").iter("error")
    assert (error.get("type"), error.get("message")) == ("fault_found_at_grading", "quota <b>")
    assert [path.name for path in (tmp_path / "predictions").glob("*.jsonl")] == ["alder+git+warm+m.r2.jsonl"]
