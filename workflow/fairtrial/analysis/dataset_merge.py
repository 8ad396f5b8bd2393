"""One dataset out of several results trees: an experiment that was run in shards, on machines of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import digest, file_digest, load
from fairtrial.paths import Results, planned_by

Row = dict[str, Any]
CELL = ("suite", "task", "harness", "model", "toolset", "adoption", "recipe")


@dataclass(frozen=True, slots=True)
class Merged:
    """The trees, their common matrix, and where each planned attempt is."""

    roots: list[Path]
    matrix: Row
    folders: dict[str, Path]


def merge(sources: Sequence[Path], name: str) -> Merged:
    """The experiments `sources`, each a results tree that plans `name` or an experiment's folder in one, as one.

    Cells that several of them plan are one cell with the most repetitions. UserError when one attempt was sealed
    twice with different evidence, or when a cell was graded in two ways: those are two experiments. The order of the
    sources changes nothing.
    """
    cells: dict[tuple[str, ...], Row] = {}
    folders: dict[str, Path] = {}
    roots: list[Path] = []
    loaded = [(_root(source), load(_matrix(source, name), "matrix")) for source in sources]
    loaded.sort(key=lambda one: (one[1]["digest"], str(one[0])))
    for root, matrix in loaded:
        if root not in roots:
            roots.append(root)
        for cell in matrix["cells"]:
            key = tuple(cell[part] for part in CELL)
            cells[key] = _joined(cells.get(key), cell, root)
            _place(folders, cell, root)
    skipped = {(entry["what"], entry["why"]): entry for _, matrix in loaded for entry in matrix["skipped"]}
    record = {
        "schema_version": 1, "name": name, "cells": [cells[key] for key in sorted(cells)],
        "skipped": [skipped[key] for key in sorted(skipped)],
        "k": sorted({k for _, matrix in loaded for k in matrix["k"]}),
    }  # fmt: skip
    return Merged(roots, {**record, "digest": digest(record)}, folders)


def _matrix(source: Path, name: str) -> Path:
    inside = source / "matrix.json"
    found = inside if inside.exists() else source / name / "matrix.json"
    if not found.exists():
        known = sorted(path.parent.name for path in source.glob("*/matrix.json"))
        raise UserError(
            f"--from {source}: holds no experiment {name!r}; experiments there: {', '.join(known) or 'none'}; "
            "give a results tree, or the folder of one experiment in it"
        )
    return found


def _root(source: Path) -> Path:
    return source.resolve().parent if (source / "matrix.json").exists() else source.resolve()


def _joined(known: Row | None, cell: Row, root: Path) -> Row:
    if known is None:
        return dict(cell)
    if known["grade_sha256"] != cell["grade_sha256"]:
        raise UserError(
            f"--from: {cell['suite']}/{cell['task']} of {cell['harness']}/{cell['model']} is graded in another way in "
            f"{root}; run `snakemake` there with the same task packages, which grades again and starts no agent"
        )
    return {**known, "repetitions": max(known["repetitions"], cell["repetitions"])}


def _place(folders: dict[str, Path], cell: Row, root: Path) -> None:
    """Where each attempt of a cell is: the tree that sealed it, else the first that plans it."""
    for attempt_id in planned_by(cell):
        attempt = Results(root).attempt(attempt_id)
        key, other = str(attempt.id), folders.get(str(attempt.id))
        if other is None or other == attempt.folder:
            folders[key] = attempt.folder
        elif attempt.evidence.exists():
            sealed = other / "evidence.json"
            if sealed.exists() and file_digest(sealed) != file_digest(attempt.evidence):
                raise UserError(
                    f"--from: {key} was run in {other.parents[6]} and again in {root}; shards must not overlap: "
                    "give them different tasks, harnesses or models"
                )
            if not sealed.exists():
                folders[key] = attempt.folder
