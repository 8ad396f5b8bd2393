"""JUnit XML: a suite an arm; failure = the agent, error = the infrastructure, skipped = not run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from fairtrial.analysis.export._source import LATE, Source, arm_name

HELP = "write junit.xml: failure = agent, error = infrastructure, skipped = not run"
Json = dict[str, Any]
NO_VERDICT = "the verifier came to no verdict; verifier-output.txt is beside its result.json"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def export(source: Source, out: Path) -> list[Path]:
    """<out>/junit.xml."""
    out.mkdir(parents=True, exist_ok=True)
    root = ET.Element("testsuites", name=text(source.matrix["name"]))
    arms: dict[str, list[Json]] = {}
    for row in source.rows:
        arms.setdefault(arm_name(row), []).append(row)
    for name, rows in arms.items():
        _suite(root, name, rows, source)
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    ET.indent(root)
    path = out / "junit.xml"
    path.write_bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")
    return [path]


def text(value: object) -> str:
    """A text without the characters XML cannot carry; those become U+FFFD."""
    return _NOT_XML.sub("\ufffd", str(value))


def _suite(root: ET.Element, name: str, rows: list[Json], source: Source) -> None:
    suite = ET.SubElement(root, "testsuite", name=text(name))
    counts = dict.fromkeys(("failures", "errors", "skipped"), 0)
    told: set[tuple[str, str, int]] = set()
    for row in rows:
        case = (row["suite"], row["task"], row["repetition"])
        kind = _case(suite, row, source, f" ({row['recipe']})" if case in told else "")
        told.add(case)
        if kind:
            counts[kind] += 1
    suite.set("tests", str(len(rows)))
    for key, count in counts.items():
        suite.set(key, str(count))
    suite.set("time", f"{sum(row['agent_seconds'] or 0 for row in rows if row['status'] == 'done'):.3f}")


def _case(suite: ET.Element, row: Json, source: Source, beside: str) -> str | None:
    """`beside`: what tells a second recipe of the task apart (a selection may hold both)."""
    case = ET.SubElement(
        suite, "testcase", classname=text(f"{row['suite']}.{row['task']}"), name=f"r{row['repetition']}{beside}"
    )
    status = row["status"]
    if status == "done" and row["agent_seconds"] is not None:
        case.set("time", f"{row['agent_seconds']:.3f}")
    if status in ("not_run", "excluded"):
        ET.SubElement(case, "skipped", message=text(row["excluded"] or "not run"))
        return "skipped"
    if status == "fault":
        fault = source.faults.get(row["attempt_id"], {})
        _tell(case, "error", str(fault.get("kind", "fault")), str(fault.get("message", "")))
        return "errors"
    if row["ending"] == LATE:
        _tell(case, "error", LATE, str(row["ending_reason"] or ""))
        return "errors"
    if status == "problem" or not row["scored"]:
        kind = "record unreadable" if status == "problem" else str(row["verdict"])
        _tell(
            case, "error", kind, _verifier(row, source) if kind == "verifier_error" else str(row["ending_reason"] or "")
        )
        return "errors"
    if row["outcome"] != "green":
        passed = f"{row['checks_passed']} of {row['checks_total']} checks passed" if row["checks_total"] else ""
        _tell(case, "failure", str(row["outcome"]), passed)
        return "failures"
    return None


def _verifier(row: Json, source: Source) -> str:
    """What went wrong with the verifier; the agent's ending has nothing to do with it."""
    said = source.record(source.grade(row) / "result.json").get("performance", {}).get("correctness", {})
    return str(said.get("verifier_error") or NO_VERDICT)


def _tell(case: ET.Element, tag: str, kind: str, message: str) -> None:
    ET.SubElement(case, tag, type=text(kind), message=text(message or kind))
