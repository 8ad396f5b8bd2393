"""rerun-bench result folders (0.3.0) as tables, so that their published numbers can be analysed again.

<folder>/<run_id>/{meta.json, runs.jsonl, errors.jsonl, diffs/<task>/runNNN.diff}

What it cannot tell stays null: no seal, no isolation, no named checks, no command trace. Every row is marked foreign.
One rule for a doubled (task_id, run_index), for a run given twice and for task ids that differ in punctuation or case
only: the first line stands, the others are named. A record that rerun-bench's verifier scored although the agent timed
out or broke off is ending timeout or agent_error with check_passed beside it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fairtrial.analysis import dataset_side as side
from fairtrial.analysis.dataset_rows import convert
from fairtrial.contracts.errors import UserError

HELP = "rerun-bench result folders"
TOOL = "rerun-bench"
Json = dict[str, Any]


def run_folders(path: Path) -> list[Path]:
    """The run folders at or below a path; UserError when there is none."""
    found = [path] if (path / "meta.json").is_file() else sorted(p.parent for p in path.glob("*/meta.json"))
    if not found:
        raise UserError(f"{path}: holds no rerun-bench result (no meta.json); give the folder named by its --out")
    return found


def read(paths: Iterable[Path]) -> Json:
    """{"matrix", "attempts": [row], "checks": [row], "faults": [row], "problems": [{path, attempt_id, reason}]}."""
    found: Json = {"cells": {}, "attempts": [], "checks": [], "faults": [], "problems": []}
    seen: dict[str, bytes] = {}  # attempt -> its line, over all folders: one may be given twice, as a copy
    for path in paths:
        for folder in run_folders(path):
            _read_run(folder, found, seen)
    cells = [found["cells"][key] for key in sorted(found["cells"])]
    digest = hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()
    found["matrix"] = {
        "schema_version": 1,
        "name": "imported",
        "digest": digest,
        "cells": cells,
        "skipped": [],
        "k": [1, 3],
    }
    return found


def _read_run(folder: Path, found: Json, seen: dict[str, bytes]) -> None:
    try:
        meta = json.loads((folder / "meta.json").read_bytes())
        run, agent = str(meta["run_id"]), str(meta["agent"])
        tasks, repetitions = list(meta["tasks"]), int(meta["runs_per_task"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{folder / 'meta.json'}: is no record of a rerun-bench run ({error})") from None
    recipe = hashlib.sha256(
        run.encode() + json.dumps(meta.get("agent_options", {}), sort_keys=True).encode()
    ).hexdigest()
    for task in tasks:
        cell = _cell(meta, str(task), recipe, repetitions)
        found["cells"].setdefault((cell["harness"], cell["model"], recipe, cell["task"]), cell)
    for name, keep in (("runs.jsonl", _keep_run), ("errors.jsonl", _keep_error)):
        for number, line, record in _lines(folder / name, found):
            where = {"path": f"{run}/{name}", "attempt_id": None}
            try:
                task, index = _text(record["task_id"]), _index(record["run_index"], repetitions)
                cell = found["cells"].get((slug(agent), slug(_model(meta)), recipe, slug(task)))
                if cell is None:
                    raise ValueError(f"task {task!r} is not in meta.json")
                key = attempt_id(cell, record)
                if name == "runs.jsonl" and key in seen:
                    what = "a copy of" if seen[key] == line else "another record than"
                    raise ValueError(f"{what} an earlier line for {cell['task']} run {index}; the first one stands")
                keep(found, cell, record, folder)
                if name == "runs.jsonl":
                    seen[key] = line
            except (ValueError, KeyError, TypeError, OverflowError) as error:
                said = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
                found["problems"].append({**where, "reason": f"line {number}: {said}; the line is left out"})


def _lines(path: Path, found: Json) -> Iterator[tuple[int, bytes, Json]]:
    content = side.slurp(str(path)) or b""
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, parse_constant=lambda _: None)  # NaN of an unknown cost is null
        except ValueError:
            record = None
        if isinstance(record, dict):
            yield number, line, record
        else:
            reason = f"line {number} is not whole JSON; the line is left out"
            found["problems"].append({"path": f"{path.parent.name}/{path.name}", "attempt_id": None, "reason": reason})


def slug(text: str) -> str:
    """A name as a slug."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:64] or "unnamed"


def _index(value: Any, runs: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"run_index holds {value!r}, not a whole number")
    if not 0 <= value < runs:
        raise ValueError(f"run_index {value} is none of the {runs} runs per task of meta.json")
    return value


def _started(record: Json) -> datetime:
    """UTC; a moment without a zone is taken for UTC, so that every machine reads the same."""
    moment = datetime.fromisoformat(record["started_at"])
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"task_id holds {value!r}, not a text")
    return value


def _model(meta: Json) -> str:
    return str(meta.get("model") or "default")


def _cell(meta: Json, task: str, recipe: str, repetitions: int) -> Json:
    simulated = meta.get("agent") == "mock"
    return {
        "suite": TOOL, "task": slug(task), "label": slug(task), "title": task, "language": "unknown", "tags": [],
        "difficulty": None, "check": None, "harness": slug(str(meta["agent"])), "adapter": TOOL,
        "model": slug(_model(meta)), "model_id": meta.get("model"), "toolset": "none", "adoption": "warm",
        "free": simulated, "simulated": simulated, "recipe": recipe[:12], "recipe_sha256": recipe,
        "grade": "0" * 12, "grade_sha256": "0" * 64, "wall_seconds": 0.0, "repetitions": repetitions,
        "version": meta.get("cli_version"),
    }  # fmt: skip


def attempt_id(cell: Json, record: Json) -> str:
    """suite/task/harness/model/recipe12/rN; their runs count from 0."""
    stem = f"{cell['suite']}/{cell['task']}/{cell['harness']}/{cell['model']}/{cell['recipe']}"
    return f"{stem}/r{int(record['run_index']) + 1}"


def _keep_run(found: Json, cell: Json, record: Json, folder: Path) -> None:
    passed = record["passed"]
    if not isinstance(passed, bool):
        raise TypeError(f"passed holds {passed!r}, not true or false")
    row = _typed(_row(cell, record, passed) | _change(folder, record))
    found["attempts"].append(row)
    detail = str(record.get("verify_output_tail") or "").strip()[-1500:]
    found["checks"].append({"attempt_id": row["attempt_id"], "name": "verify", "kind": "milestone", "passed": passed,
                            "detail": "" if passed else detail})  # fmt: skip


def _typed(row: Json) -> Json:
    for name, value in row.items():
        if value is not None and name not in (
            "started_at",
            "ended_at",
            "green_at",
            "changed_lines",
            "degraded",
            "notes",
        ):
            try:
                row[name] = convert("attempts", name, value)
            except TypeError as error:
                raise TypeError(f"{name} holds {value!r}, not {error}") from None
    return row


def _row(cell: Json, record: Json, passed: bool) -> Json:
    ending = "timeout" if record.get("agent_timed_out") else "completed"
    if ending == "completed" and (record.get("agent_error") or record.get("is_error")):
        ending = "agent_error"
    outcome = {"timeout": "timeout", "agent_error": "agent_error"}.get(ending, "green" if passed else "red")
    seconds = record.get("wall_time_s")
    seconds = None if seconds is None else convert("attempts", "agent_seconds", seconds)
    started = _started(record)
    green = outcome == "green" and seconds is not None
    changed = record.get("files_changed")
    return {
        "attempt_id": attempt_id(cell, record), "status": "done", "started_at": started,
        "ended_at": started + timedelta(seconds=seconds) if seconds is not None else None,
        "green_at": started + timedelta(seconds=seconds) if green else None,  # type: ignore[arg-type]
        "ending": ending, "ending_reason": str(record.get("agent_error") or ending), "outcome": outcome,
        "verdict": "passed" if passed else "failed", "raw_verdict": "passed" if passed else "failed",
        "check_passed": passed, "scored": True, "suspect": False, "corrected": False,
        "exit_status": record.get("agent_exit_code"), "timed_out": record.get("agent_timed_out"),
        "checks_passed": int(passed), "checks_total": 1, "agent_seconds": seconds,
        "seconds_to_green": seconds if green else None, "turns": record.get("num_turns"),
        "cost_usd": record.get("cost_usd"), "cost_source": None if record.get("cost_usd") is None else "cli",
        "input_uncached_tokens": record.get("input_tokens"), "cache_read_tokens": record.get("cache_read_tokens"),
        "cache_write_tokens": record.get("cache_write_tokens"), "output_tokens": record.get("output_tokens"),
        "lines_added": record.get("lines_added"), "lines_removed": record.get("lines_removed"),
        "files_changed": len(changed) if isinstance(changed, list) else None,
        "model_configured": cell["model_id"], "model_observed": record.get("model"), "harness_version": cell["version"],
        "foreign": TOOL, "degraded": "[]", "notes": "[]",
    }  # fmt: skip


def _change(folder: Path, record: Json) -> Json:
    """Digest and lines of the diff, where it lies inside the folder."""
    given = record.get("diff_path")
    path = (folder / given).resolve() if isinstance(given, str) else None
    if path is None or not path.is_relative_to(folder.resolve()):
        return {}
    content = side.slurp(str(path))
    return {} if content is None else side.change_of(content)


def _keep_error(found: Json, cell: Json, record: Json, _folder: Path) -> None:
    key = attempt_id(cell, record)
    started = _started(record)
    found["faults"].append({
        "fault_id": f"errors-{len(found['faults']) + 1}", "attempt_id": key,
        **{name: cell[name] for name in ("suite", "task", "harness", "model", "simulated")},
        "repetition": int(record["run_index"]) + 1, "kind": "other",
        "message": str(record.get("agent_error") or "set aside by rerun-bench"), "started_at": started,
        "cost_usd": convert("faults", "cost_usd", record.get("cost_usd")), "turns": None,
    })  # fmt: skip
