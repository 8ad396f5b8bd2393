"""What the name and the place of an attempt in other formats must say: whose fault, and whether it was measured."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from fairtrial.__main__ import main
from fairtrial.analysis.export import trajectory

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


def test_generated_attempts_are_marked_and_stand_apart(tmp_path: Path) -> None:
    """Simulated attempts of an arm's name are a suite and predictions of their own, which say so."""
    roots = [tmp_path / "generated", tmp_path / "measured"]
    for root in roots:
        arm = fabricate.Arm("alder", "m", 1.0, simulated=root == roots[0])
        fabricate.tree(root, tasks=1, repetitions=1, arms=(arm,))
    for kind in ("junit", "predictions"):
        chosen = ",".join(map(str, roots))
        assert main(["export", kind, "--attempts", chosen, "--out", str(tmp_path / kind)]) == 0
    suites = ET.parse(tmp_path / "junit" / "junit.xml").iter("testsuite")
    assert sorted(suite.get("name") or "" for suite in suites) == ["alder/git/warm/m", "alder/git/warm/m (simulated)"]
    lines = {path.name: json.loads(path.read_text()) for path in (tmp_path / "predictions").glob("*.jsonl")}
    assert {name: line["model_name_or_path"] for name, line in lines.items()} == {
        "alder+git+warm+m.r1.jsonl": "alder/git/warm/m",
        "alder+git+warm+m+simulated.r1.jsonl": "alder/git/warm/m (simulated)",
    }


def test_a_prompt_that_the_program_prints_is_asked_once() -> None:
    """A transcript that begins with the prompt keeps its own step of it; another first word is no prompt."""
    row: dict[str, Any] = defaultdict(lambda: None, attempt_id="x", harness="h")
    for said, wanted in (("Do it.", ["Be brief.", "Do it."]), ("Go on.", ["Do it.\n", "Be brief.", "Go on."])):
        messages = [{"order": n, "role": role, "text": text, "at_ns": None}
                    for n, (role, text) in enumerate((("system", "Be brief."), ("user", said)))]  # fmt: skip
        steps = trajectory.trajectory(row, {"messages": messages}, "Do it.\n")["steps"]
        assert [step["message"] for step in steps] == wanted
