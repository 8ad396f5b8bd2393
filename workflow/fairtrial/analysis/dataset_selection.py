"""An explicit choice of attempts, as a matrix of its own: analysed without running anything, never a glob of history.

What an attempt is, is read from its seal and the grade beside it; what a matrix knew besides (label, title, tags) from
the experiments of the tree it lies in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairtrial.contracts import records
from fairtrial.contracts.errors import UserError
from fairtrial.paths import AttemptId, Results

Json = dict[str, Any]


@dataclass(slots=True)
class Selection:
    """A matrix of the chosen attempts and where each of them is."""

    results: Path  # the tree of the first attempt; frozen prompts are looked up there
    matrix: Json
    folders: dict[str, Path] = field(default_factory=dict)  # attempt -> folder


def from_manifest(path: Path) -> Selection:
    """The attempts a manifest names; relative paths start at its folder. UserError names what is wrong."""
    record = records.load(path, "manifest")
    return from_folders([path.parent / entry for entry in record["attempts"]], str(path), record.get("title"))


def from_folders(paths: Iterable[Path], where: str, title: str | None = None) -> Selection:
    """The attempts in these folders: attempt folders or whole results trees. UserError for anything else.

    One attempt chosen twice is one attempt when both are the same evidence, and refused when they are not: neither is
    silently counted, and never the better one picked.
    """
    folders: dict[str, Path] = {}
    seals: dict[str, Json] = {}
    for path in paths:
        for folder in _attempts(path, where):
            key = str(AttemptId.parse(folder.absolute().as_posix()))
            if key in folders and folders[key].resolve() != folder.resolve():
                _same(folders[key], folder, where)
                continue
            folders[key] = folder
            seals[key] = _seal(folder, where)
    if not folders:
        raise UserError(f"{where}: no attempt is chosen")
    known = {tree: _matrices(tree) for tree in dict.fromkeys(map(_tree, folders.values()))}
    cells = _cells(folders, seals, known, where)
    matrix = {"schema_version": 1, "name": "selection", "digest": records.digest(cells), "cells": cells, "skipped": [],
              "k": _k(known, seals), **({"title": title} if title else {})}  # fmt: skip
    return Selection(_tree(next(iter(folders.values()))), matrix, folders)


def _tree(folder: Path) -> Path:
    """The results tree an attempt folder is part of; a copied one alone has none, and any folder does."""
    parents = folder.absolute().parents
    return parents[6] if len(parents) > 6 else parents[0]


def _k(known: dict[Path, dict[str, Json]], seals: dict[str, Json]) -> list[int]:
    """Every k of the matrices that planned the chosen recipes."""
    chosen = {seal["recipe_sha256"] for seal in seals.values()}
    found = {k for cells in known.values() for recipe in chosen & cells.keys() for k in cells[recipe]["k"]}
    return sorted(found) or [1, 3]


def _attempts(path: Path, where: str) -> list[Path]:
    if not path.is_dir():
        raise UserError(f"{where}: {path}: no such folder; give attempt folders or results trees")
    if (path / "evidence.json").exists():
        return [path]
    found = [attempt.folder for attempt in Results(path).attempts() if attempt.evidence.exists()]
    if not found:
        raise UserError(f"{where}: {path}: holds neither evidence.json nor attempts/ with sealed attempts")
    return found


def _same(first: Path, second: Path, where: str) -> None:
    if (first / "evidence.json").read_bytes() != (second / "evidence.json").read_bytes():
        raise UserError(
            f"{where}: {first} and {second} are the same attempt with different evidence; choose one of them"
        )


def _seal(folder: Path, where: str) -> Json:
    try:
        seal = json.loads((folder / "evidence.json").read_bytes())
        seal["recipe"]["harness"]["adapter"]  # the deepest key needed below
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{where}: {folder / 'evidence.json'}: is no whole seal ({error})") from None
    return dict(seal)


def _cells(
    folders: dict[str, Path], seals: dict[str, Json], known: dict[Path, dict[str, Json]], where: str
) -> list[Json]:
    cells: dict[tuple[str, str], Json] = {}
    for key in sorted(folders):
        folder = folders[key].absolute()
        planned = known[_tree(folder)].get(seals[key]["recipe_sha256"])
        grade, digest = _grade(folder, planned, where)
        cell = cells.get((seals[key]["recipe_sha256"], digest))
        if cell is None:
            cell = _cell(key, seals[key], grade, digest, planned)
            cells[seals[key]["recipe_sha256"], digest] = cell
        cell["repetition_numbers"].append(AttemptId.parse(key).repetition)
    for cell in cells.values():
        cell["repetition_numbers"].sort()
        cell["repetitions"] = len(cell["repetition_numbers"])
    return [cells[key] for key in sorted(cells, key=lambda k: (cells[k]["suite"], cells[k]["task"], k))]


def _matrices(tree: Path) -> dict[str, Json]:
    """recipe sha256 -> its cell in some experiment of the tree, with that one's k; unreadable ones are passed over."""
    found: dict[str, Json] = {}
    for path in sorted(tree.glob("*/matrix.json")):
        try:
            matrix = json.loads(path.read_bytes())
            k = [int(each) for each in matrix["k"]]
            for cell in matrix["cells"]:
                found.setdefault(cell["recipe_sha256"], cell | {"k": k})
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def _grade(folder: Path, cell: Json | None, where: str) -> tuple[str, str]:
    """(grade12, sha256) of the grade to read: the matrix's where it is there, else the newest."""
    found = []
    for path in sorted(folder.glob("grades/*/result.json")):
        try:
            record = json.loads(path.read_bytes())
            found.append((record["graded_at"], path.parent.name, record["grade_sha256"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    planned = [entry for entry in found if cell and entry[1] == cell["grade"]]
    whole = [entry for entry in found if entry[1] == entry[2][:12]]  # grades set aside have another name
    if not found and cell:  # planned and without a whole grade: a row that says so
        return str(cell["grade"]), str(cell["grade_sha256"])
    if not found:
        raise UserError(f"{where}: {folder}: has no readable grade; `fairtrial grade` makes one")
    newest = max(planned or whole or found)
    return newest[1], newest[2]


def _cell(key: str, seal: Json, grade: str, digest: str, known: Json | None) -> Json:
    recipe, parsed = seal["recipe"], AttemptId.parse(key)
    told = known or {}
    return {
        "suite": parsed.suite, "task": parsed.task, "label": told.get("label", parsed.task),
        "title": told.get("title", parsed.task), "language": told.get("language", "unknown"),
        "tags": told.get("tags", []), "difficulty": told.get("difficulty"), "check": told.get("check"),
        "harness": parsed.harness, "adapter": recipe["harness"]["adapter"], "model": parsed.model,
        "model_id": recipe["model"]["id"], "toolset": recipe["toolset"]["name"], "adoption": recipe["adoption"],
        "free": bool(told.get("free", False)), "simulated": seal["simulated"], "recipe": parsed.recipe,
        "recipe_sha256": seal["recipe_sha256"], "grade": grade, "grade_sha256": digest,
        "wall_seconds": recipe["budget"]["wall_seconds"], "repetitions": 0, "repetition_numbers": [],
    }  # fmt: skip
