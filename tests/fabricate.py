"""Fabricated results trees: valid matrix.json, evidence.json, sealed, result.json and side files, without any agent.

    matrix = tree(Path("results"), tasks=35, repetitions=5, arms=ARMS_3X2)     # 1,050 attempts
    python -m tests.fabricate results --attempts 10000                          # from a shell

Everything is a function of the seed, so that two trees of the same arguments are equal to the byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from tests.fabricate_files import side_files
from tests.fabricate_records import (
    WALL,
    Arm,
    Json,
    Settings,
    evidence,
    fate_of,
    outcome_of,
    result,
    sha,
    stamp,
    write,
)

__all__ = ["Arm", "Settings", "attempt", "cell", "fate_of", "matrix_of", "outcome_of", "rich", "task_names", "tree"]

ORIGIN = datetime(2026, 1, 5, 9, 12, tzinfo=UTC)


ARMS_3X2 = (
    Arm("alder", "m-large", 0.95, 120, 0.11),
    Arm("birch", "m-large", 0.95, 170, 0.09, 0.72, version="0.16.0"),
    Arm("cedar", "m-large", 0.60, 300, 0.08, version="1.4.2"),
    Arm("alder", "m-small", 0.85, 110, 0.032),
    Arm("birch", "m-small", 0.84, 160, 0.027, 0.68, version="0.16.0"),
    Arm("cedar", "m-small", 0.42, 190, 0.024, version="1.4.2"),
)
NAMES = (
    "fix-failing-test", "slugify-to-spec", "lru-cache", "edit-config", "multi-file-rename", "extract-helper",
    "add-cli-flag", "follow-agents-md", "mutation-tests", "minimal-fix",
)  # fmt: skip


def cell(suite: str, number: int, task: str, arm: Arm, repetitions: int, titles: dict[str, str]) -> Json:
    """One cell of matrix.json."""
    recipe, grade = sha("recipe", suite, task, arm), sha("grade", suite, task, arm.harness)
    return {
        "suite": suite, "task": task, "label": f"T{number + 1:02d}",
        "title": titles.get(task, task.replace("-", " ").capitalize()),
        "language": ("python", "javascript", "go")[number % 3], "tags": [("feature", "bug", "format")[number % 3]],
        "difficulty": ("easy", "medium", "hard")[number % 3],
        "check": f"python3 -m unittest acceptance.test_{number:02d}",
        "harness": arm.harness, "adapter": arm.harness, "model": arm.model, "model_id": f"vendor/{arm.model}",
        "toolset": arm.toolset, "adoption": arm.adoption, "free": arm.free, "simulated": arm.simulated,
        "recipe": recipe[:12], "recipe_sha256": recipe, "grade": grade[:12], "grade_sha256": grade,
        "wall_seconds": WALL, "repetitions": repetitions,
    }  # fmt: skip


def task_names(count: int) -> list[str]:
    """Slugs of `count` tasks."""
    return [NAMES[n] if n < len(NAMES) else f"{NAMES[n % len(NAMES)]}-{n // len(NAMES) + 1}" for n in range(count)]


def matrix_of(cells: list[Json], name: str = "default", k: tuple[int, ...] = (1, 3)) -> Json:
    """matrix.json of these cells."""
    return {
        "schema_version": 1, "name": name, "digest": sha(json.dumps(cells, sort_keys=True)), "cells": cells,
        "skipped": [], "k": list(k),
    }  # fmt: skip


def tree(
    root: Path,
    *,
    tasks: int = 10,
    repetitions: int = 5,
    arms: tuple[Arm, ...] = ARMS_3X2,
    seed: int = 1,
    name: str = "default",
    suite: str = "time-to-green",
    k: tuple[int, ...] = (1, 3),
    settings: Settings | None = None,
) -> Json:
    """Write a results tree below `root`; returns its matrix (also written to <root>/<name>/matrix.json)."""
    settings = settings or Settings()
    cells = []
    for number, task in enumerate(task_names(tasks)):
        hardness = random.Random(sha(seed, "task", task)).gauss(0, 0.9)
        for arm in arms:
            one = cell(suite, number, task, arm, repetitions, settings.titles)
            cells.append(one)
            for repetition in range(1, repetitions + 1):
                attempt(root, one, arm, repetition, hardness, seed, settings)
    matrix = matrix_of(cells, name, k)
    write(root / name / "matrix.json", matrix)
    return matrix


def rich(root: Path, seed: int = 1) -> Json:
    """3 harnesses x 2 models x 35 tasks x 5 repetitions in which a little of everything happens; 1,050 attempts."""
    settings = Settings(faults=0.008, excluded=0.004, unscored=0.006, redone=0.004)
    return tree(root, tasks=35, repetitions=5, seed=seed, k=(1, 4), settings=settings)


def attempt(root: Path, one: Json, arm: Arm, repetition: int, hardness: float, seed: int, settings: Settings) -> None:
    """One attempt: evidence, seal, result and side files; or a fault; or nothing."""
    key = f"{one['suite']}/{one['task']}/{one['harness']}/{one['model']}/{one['recipe']}/r{repetition}"
    draw = random.Random(sha(seed, key))
    started = ORIGIN + timedelta(milliseconds=draw.randrange(19_000_000))
    chance = draw.random()
    if chance < settings.missing:
        return
    if chance < settings.missing + settings.faults:
        fault(root, key, one, repetition, started)
        return
    fate = fate_of(arm, hardness, draw, settings)
    folder = root / "attempts" / key
    grade = folder / "grades" / one["grade"]
    grade.mkdir(parents=True, exist_ok=True)
    files = side_files(folder, grade, key, fate, draw, settings) if settings.side_files else {}
    seal = orjson.dumps(evidence(key, one, arm, repetition, started, fate, files), option=orjson.OPT_SORT_KEYS)
    (folder / "evidence.json").write_bytes(seal)
    digest = hashlib.sha256(seal).hexdigest()
    (folder / "sealed").write_bytes(digest.encode() + b"\n")
    record = result(key, digest, one, arm, repetition, started, fate, files, settings)
    (grade / "result.json").write_bytes(orjson.dumps(record, option=orjson.OPT_SORT_KEYS))
    if draw.random() < settings.excluded:
        mark = {"schema_version": 1, "attempt_id": key, "reason": "the office network was down", "at": stamp(started)}
        write(folder / "exclude.json", mark)
    if draw.random() < settings.redone:
        mark = {"schema_version": 1, "attempt_id": key, "reason": "wrong account", "at": stamp(started)}
        mark |= {"cost_usd": 0.1, "set_aside": "20260105T091200Z"}
        write(root / "redone" / key / "20260105T091200Z" / "redo.json", mark)


def fault(root: Path, key: str, one: Json, repetition: int, started: datetime) -> None:
    """One infrastructure fault."""
    record = {
        "schema_version": 1, "fault_id": "20260105T091200Z-1", "attempt_id": key,
        "recipe_sha256": one["recipe_sha256"], "kind": "quota", "message": "You have reached your weekly limit.",
        "started_at": stamp(started), "ended_at": stamp(started + timedelta(seconds=2)), "agent_seconds": 2.0,
        "cost_usd": 0.01, "cost_source": "cli", "turns": 1,
        "tokens": dict.fromkeys(("input_uncached", "cache_read", "cache_write", "output", "reasoning")),
        "model_observed": None, "invocation": "20260105T091200Z-fab", "simulated": one["simulated"],
        **{name: one[name] for name in ("harness", "model", "suite", "task")}, "repetition": repetition,
        "retry_after_seconds": None, "files": [],
    }  # fmt: skip
    write(root / "faults" / key / record["fault_id"] / "fault.json", record)


def main() -> None:
    """Fabricate from a shell."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--tasks", type=int, default=0, help="default: as many as 5 repetitions need")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--rich", action="store_true", help="3 harnesses x 2 models x 35 tasks x 5, everything happens")
    parser.add_argument("--bare", action="store_true", help="no side files")
    options = parser.parse_args()
    if options.rich:
        rich(options.root)
        return
    arms = len(ARMS_3X2)
    tasks = options.tasks or max(1, math.ceil(options.attempts / arms / options.repetitions))
    tree(options.root, tasks=tasks, repetitions=options.repetitions, settings=Settings(side_files=not options.bare))


if __name__ == "__main__":
    main()
