"""Real agent programs on the rehearsal model, one attempt at a time, in this process."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from fairtrial.capture import attempt
from fairtrial.capture.settings import from_environment
from fairtrial.contracts.lean import replaced
from fairtrial.grading import grade
from fairtrial.instruments.sandbox import backends
from fairtrial.paths import AttemptId, Results
from fairtrial.plan import config as configuration
from fairtrial.plan import freeze, snake
from fairtrial.plan.matrix import expand

CHECKOUT = Path(__file__).parents[1]
BIN = CHECKOUT / ".rehearse" / "bin"
PROGRAMS = {"claude": "claude", "codex": "codex", "opencode": "opencode", "mini-swe-agent": "mini"}
TASK = "time-to-green/tally-filter-numbers"  # one file to write: read, write, check, done


def program(harness: str) -> Path:
    """Where `make rehearse` installed it; a skip with its reason where it did not."""
    found = BIN / PROGRAMS[harness]
    if not found.exists():
        pytest.skip(f"{harness} is not installed below .rehearse; run `make rehearse`")
    if backends.best()[0].kind != "bwrap":
        pytest.skip("real agent programs are tested in a bubblewrap box, and none can be had here")
    return found


@dataclass
class Seen:
    """One attempt: what became of it and what was captured."""

    became: str  # an ending, or `fault:<kind>`
    reason: str
    folder: Path
    rows: list[dict[str, Any]]
    evidence: dict[str, Any]  # evidence.json or fault.json
    result: dict[str, Any] | None

    def read(self, harness: str) -> dict[str, Any]:
        """The program's own words, without what the endpoint adds."""
        import importlib

        from fairtrial.wire.captured import streams

        reader = importlib.import_module(f"fairtrial.harnesses.{harness.replace('-', '_')}.events")
        return reader.read(streams(self.folder, {}))


def rehearse(
    folder: Path, harness: str, *, options: dict[str, Any] | None = None, budget: dict[str, Any] | None = None,
    model: dict[str, Any] | None = None, harness_options: dict[str, Any] | None = None, graded: bool = False,
    task: str = TASK, entry: dict[str, Any] | None = None, policy: str | None = None,
) -> Seen:  # fmt: skip
    """Run one attempt below `folder`; `entry` instead of one for a program that `make rehearse` installed."""
    policy = policy or ("required" if entry is None else "auto")
    entry = entry or {"options": {"bin": str(program(harness)), **(harness_options or {})}}
    made = {"id": "rehearsal", "rehearsal": True, "options": options or {}, **(model or {})}
    (folder / "harnesses.yaml").write_text(yaml.safe_dump({harness: entry}))
    (folder / "models.yaml").write_text(yaml.safe_dump({"m": made}))
    raw = {
        "name": "cli", "tasks": [task], "harnesses": [harness], "models": ["m"], "repetitions": 1,
        "harnesses_file": "harnesses.yaml", "models_file": "models.yaml", "isolation": policy,
        "budget": {"wall_seconds": 120, **(budget or {})},
    }  # fmt: skip
    config = configuration.load(raw, CHECKOUT, folder)
    matrix = expand(config)
    cell = matrix.cells[0]
    results = Results(folder / "results")
    freeze.write(matrix, results, results.experiment("cli"))
    stage = snake.stage_settings(config, matrix)
    settings = replaced(
        from_environment({}), allow=True, access=stage["access"], free=frozenset(stage["free"]), name="cli"
    )
    attempt_id = AttemptId.parse(cell.attempt_id(1))
    if attempt.run(results, attempt_id, settings) == 0:
        return _sealed(results, attempt_id, cell.row["grade"], graded=graded)
    record = json.loads(next((folder / "results" / "faults").rglob("fault.json")).read_text())
    place = next((folder / "results" / "faults").rglob("fault.json")).parent
    return Seen(f"fault:{record['kind']}", record["message"], place, _rows(place), record, None)


def _sealed(results: Results, attempt_id: AttemptId, grade12: str, *, graded: bool) -> Seen:
    place = results.attempt(attempt_id)
    record = json.loads(place.evidence.read_text())
    result = None
    if graded:
        grade.run(results, attempt_id, grade12)
        result = json.loads(place.result(grade12).read_text())
    return Seen(record["ending"], record["ending_reason"], place.folder, _rows(place.folder), record, result)


def _rows(folder: Path) -> list[dict[str, Any]]:
    path = folder / "requests.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
