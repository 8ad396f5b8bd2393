"""The matrix: config -> cells. Reads and hashes only."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from typing import Any

from fairtrial import registry
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import lean
from fairtrial.contracts.records import digest
from fairtrial.contracts.schema import misfits
from fairtrial.plan import pairs
from fairtrial.plan import tasks as packages
from fairtrial.plan.config import Config, adapter_of
from fairtrial.plan.recipe import Arm, HashedTask, gradespec, recipe

PERIODIC = 20  # equal parts at the end of a name, as in snakemake.io.PeriodicityDetector
LONGEST_PATH = 200  # characters of one attempt's id; leaves room for the files below it


@lean(frozen=True)
class Cell:
    """One row of matrix.json with the records its digests are taken of."""

    row: dict[str, Any]
    hashed: HashedTask
    recipe: dict[str, Any]
    gradespec: dict[str, Any]

    def attempt_id(self, repetition: int) -> str:
        """suite/task/harness/model/recipe12/rN."""
        row = self.row
        return f"{row['suite']}/{row['task']}/{row['harness']}/{row['model']}/{row['recipe']}/r{repetition}"


@lean(frozen=True)
class Matrix:
    """Every planned attempt; `record` is matrix.json (schemas/matrix.schema.json)."""

    record: dict[str, Any]
    cells: list[Cell]


def expand(config: Config) -> Matrix:
    """Task x harness x toolset x adoption x model; a cell that cannot run here is skipped with its reason."""
    found = packages.discover(config.tasks_dirs)
    chosen = packages.select(config.settings["tasks"], found)
    if "toolsets" not in config.settings:
        raise UserError("config: toolsets: is missing")
    cells: list[Cell] = []
    skipped: dict[tuple[str, str], None] = {}
    wanted = [(arm, _talk(arm, config)) for arm in arms(config)]
    for task in chosen:
        hashed = HashedTask(task)
        for arm, mismatch in wanted:
            reason = mismatch or _obstacle(task, arm)
            if reason:
                skipped[reason] = None
            else:
                cells.append(_cell(hashed, arm, config))
    _check(cells, skipped)
    rows = [cell.row for cell in cells]
    record: dict[str, Any] = {
        "schema_version": 1,
        "name": config.settings["name"],
        "cells": rows,
        "skipped": [{"what": what, "why": why} for what, why in skipped],
        "k": config.settings["k"],
    }
    return Matrix({**record, "digest": digest(record)}, cells)


def arms(config: Config) -> Iterator[Arm]:
    """Every arm of the configuration, in the order given; options are checked once each."""
    settings = config.settings
    for harness in settings["harnesses"]:
        _check_options(harness, config)
        for toolset in settings["toolsets"]:
            registry.load("fairtrial.toolsets", toolset, "toolset", "toolset")
            for adoption in settings["adoption"]:
                for model in settings["models"]:
                    yield Arm(harness, toolset, adoption, model)


def _check_options(harness: str, config: Config) -> None:
    entry = config.harnesses[harness]
    schema, options = adapter_of(entry).OPTIONS, entry.get("options", {})
    if options or schema.get("required"):
        found = misfits(options, schema, "options")
        if found:
            raise UserError("\n".join(f"{config.files['harnesses']}: {harness}: {line}" for line in found))
    if hasattr(adapter_of(entry), "check"):
        try:
            adapter_of(entry).check(options)
        except UserError as error:
            raise UserError(f"{config.files['harnesses']}: {harness}: options.{error}") from None


def _talk(arm: Arm, config: Config) -> tuple[str, str] | None:
    """Why program and model cannot talk: so that a matrix may name models of several providers."""
    found = pairs.mismatch(arm, config)
    if found is None:
        pairs.check_effort(arm, config)
    return found


def _obstacle(task: packages.Task, arm: Arm) -> tuple[str, str] | None:
    toolset = registry.load("fairtrial.toolsets", arm.toolset, "toolset")
    for program in toolset.BINARIES:
        if shutil.which(program) is None:
            return f"toolset {arm.toolset}", f"{program} is not installed"
    allowed = task.settings["toolsets"] or ["git"]
    if arm.toolset not in allowed:
        return f"{task.name} with toolset {arm.toolset}", f"the task is written for {', '.join(allowed)}"
    for program in task.settings["requires"]:
        if shutil.which(program) is None:
            return task.name, f"{program} is not installed"
    return None


def _cell(hashed: HashedTask, arm: Arm, config: Config) -> Cell:
    task = hashed.task
    made, spec = recipe(hashed, arm, config), gradespec(hashed, arm, config)
    recipe_sha, grade_sha = digest(made), digest(spec)
    row = {
        "suite": task.suite,
        "task": task.id,
        **{key: task.settings[key] for key in ("label", "title", "language", "tags", "difficulty", "check")},
        "harness": arm.harness,
        "adapter": arm.entry(config)["adapter"],
        "model": arm.model,
        "model_id": config.models[arm.model]["id"],
        "toolset": arm.toolset,
        "adoption": arm.adoption,
        "free": arm.free(config),
        "simulated": arm.simulated(config),
        "recipe": recipe_sha[:12],
        "recipe_sha256": recipe_sha,
        "grade": grade_sha[:12],
        "grade_sha256": grade_sha,
        "wall_seconds": made["budget"]["wall_seconds"],
        "repetitions": config.settings["repetitions"],
    }
    return Cell(row, hashed, made, spec)


def _check(cells: list[Cell], skipped: Iterable[tuple[str, str]]) -> None:
    if not cells:
        why = "; ".join(f"{what}: {reason}" for what, reason in list(skipped)[:5])
        raise UserError(f"config: the matrix is empty, everything was skipped: {why}")
    for key in ("suite", "task", "harness", "model"):
        for name in sorted({cell.row[key] for cell in cells}):
            _refuse_periodic(key, name)
    seen: dict[str, str] = {}
    for cell in cells:
        attempt = cell.attempt_id(1)
        if len(attempt) > LONGEST_PATH:
            raise UserError(
                f"{attempt}: longer than {LONGEST_PATH} characters; give the task, harness or model a shorter name"
            )
        if seen.setdefault(attempt.lower(), attempt) != attempt:
            raise UserError(f"{attempt} and {seen[attempt.lower()]} differ only in case; rename one")


def _refuse_periodic(key: str, name: str) -> None:
    """Snakemake takes a name that ends in twenty equal parts for an endless recursion, far from where it is written."""
    found = re.search(rf"(.+?)\1{{{PERIODIC - 1},}}$", name) if len(name) >= PERIODIC else None
    if found:
        raise UserError(
            f"{key} {name!r}: ends in {found[1]!r} {PERIODIC} times or more, which Snakemake refuses; rename it"
        )
