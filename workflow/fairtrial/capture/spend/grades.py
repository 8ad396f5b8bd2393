"""The grades of an experiment as its runs see them: torn ones are made again, a verifier's failure is told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fairtrial.contracts.plain import counted
from fairtrial.contracts.protocols import DAMAGED
from fairtrial.paths import Attempt, Results, planned_by

NAMED = 3  # attempts that a line names; the rest is counted


def planned(results: Results, matrix: Mapping[str, Any]) -> Iterator[tuple[Attempt, str]]:
    """Every planned attempt and its grade."""
    for cell in matrix["cells"]:
        for attempt_id in planned_by(cell):
            yield results.attempt(attempt_id), cell["grade"]


def torn(results: Results, matrix: Mapping[str, Any]) -> list[tuple[Attempt, str]]:
    """Attempts whose result.json is there and no whole record: Snakemake sees a file and would leave it."""
    return [
        (attempt, grade)
        for attempt, grade in planned(results, matrix)
        if (content := _read(attempt.result(grade))) is not None and not _whole(content)
    ]


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _whole(content: bytes) -> bool:
    try:
        record = json.loads(content)
    except ValueError:
        return False
    return isinstance(record, dict) and bool(record)


def mend(results: Results, matrix: Mapping[str, Any], cwd: Path) -> list[str]:
    """Grade again what is torn, from its sealed evidence, one after another; returns lines to say.

    Without a seal there is nothing to grade: the torn record goes, so that the next start sees what is missing.
    """
    sealed = {True: 0, False: 0}
    for attempt, grade in torn(results, matrix):
        sealed[attempt.evidence.exists()] += 1
        if not attempt.evidence.exists():
            attempt.result(grade).unlink()
            continue
        command = [sys.executable, "-m", "fairtrial", "grade", str(attempt.id), "--grade", grade]
        subprocess.run(command, cwd=cwd, check=False, stdin=subprocess.DEVNULL)
    said = {True: "graded again from sealed evidence", False: "without a seal removed; the same command runs them anew"}
    lines = [f"{counted(number, 'torn result')} {said[kind]}" for kind, number in sealed.items() if number]
    still = torn(results, matrix) if lines else []
    return lines + [f"{attempt.id}: its result.json is torn still" for attempt, _ in still]


def unscored(results: Results, matrix: Mapping[str, Any]) -> str | None:
    """How to grade again what a failed verifier left without a verdict; None when there is nothing."""
    names = [str(attempt.id) for attempt, grade in planned(results, matrix) if _failed(attempt.result(grade))]
    if not names:
        return None
    shown = " ".join(names[:NAMED]) + (" ..." if len(names) > NAMED else "")
    return (
        f"{counted(len(names), 'attempt')} unscored, as the verifier failed; once it works: fairtrial regrade {shown}"
    )


def _failed(path: Path) -> bool:
    """Did the verifier fail, and not because the sealed files are damaged?"""
    content = _read(path)
    if content is None or b'"verdict": "verifier_error"' not in content or not _whole(content):
        return False
    correctness = json.loads(content).get("performance", {}).get("correctness", {})
    damaged = str(correctness.get("verifier_error") or "").startswith(DAMAGED)
    return correctness.get("verdict") == "verifier_error" and not damaged
