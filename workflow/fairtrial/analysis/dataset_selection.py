"""An explicit choice of attempts, as a matrix of its own: analysed without running anything, never a glob of history.

What an attempt is, is read from its seal and the grade beside it; what a matrix knew besides (label, title, tags) from
the experiments of the tree it lies in.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairtrial.contracts import records
from fairtrial.contracts.errors import UserError
from fairtrial.paths import AttemptId, Results, tree_of
from fairtrial.wire.captured import STDOUT

Json = dict[str, Any]


@dataclass(slots=True)
class Selection:
    """A matrix of the chosen attempts and where each of them is."""

    results: Path  # the tree of the first attempt; frozen prompts are looked up there
    matrix: Json
    folders: dict[str, Path] = field(default_factory=dict)  # attempt -> folder
    left_out: list[Json] = field(default_factory=list)  # {path, attempt_id, reason} of what cannot be analysed


@dataclass(slots=True)
class _Unusable(Exception):
    """What is wrong with one attempt; the others are analysed."""

    path: Path
    reason: str


def from_manifest(path: Path) -> Selection:
    """The attempts a manifest names; relative paths start at its folder. UserError names what is wrong."""
    record = records.load(path, "manifest")
    return from_folders([path.parent / entry for entry in record["attempts"]], str(path), record.get("title"))


def from_folders(paths: Iterable[Path], where: str, title: str | None = None) -> Selection:
    """The attempts in these folders: attempt folders or whole results trees. UserError for anything else.

    One attempt chosen twice is one attempt when both are the same evidence, and refused when they are not: neither is
    silently counted, and never the better one picked. One without a whole seal, or that neither a grade nor a plan
    says how to judge, is left out and named; UserError when no other is there.
    """
    folders: dict[str, Path] = {}
    seals: dict[str, Json] = {}
    left_out: list[Json] = []
    for path in paths:
        for folder in _attempts(path, where):
            key = str(AttemptId.parse(folder.absolute().as_posix()))
            if key in folders and folders[key].resolve() != folder.resolve():
                _same(folders[key], folder, where)
                continue
            folders[key] = folder
    for key, folder in folders.items():
        with _named(left_out, key):
            seals[key] = _seal(folder)
    known = {tree: _matrices(tree) for tree in dict.fromkeys(map(tree_of, folders.values()))}
    cells = _cells(folders, seals, known, left_out)
    for entry in left_out:
        folders.pop(entry["attempt_id"])
    if not folders:
        first = f"{left_out[0]['path']}: {left_out[0]['reason']}" if left_out else "no attempt is chosen"
        raise UserError(f"{where}: {first}")
    matrix = {"schema_version": 1, "name": "selection", "digest": records.digest(cells), "cells": cells, "skipped": [],
              "k": _k(known, seals), **({"title": title} if title else {})}  # fmt: skip
    return Selection(tree_of(next(iter(folders.values()))), matrix, folders, left_out)


@contextlib.contextmanager
def _named(left_out: list[Json], key: str) -> Iterator[None]:
    try:
        yield
    except _Unusable as error:
        left_out.append({"path": str(error.path), "attempt_id": key, "reason": error.reason})


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


def _seal(folder: Path) -> Json:
    try:
        seal = json.loads((folder / "evidence.json").read_bytes())
        seal["recipe"]["harness"]["adapter"]  # the deepest key needed below
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _Unusable(folder / "evidence.json", f"is no whole seal ({error})") from None
    return dict(seal)


def _cells(
    folders: dict[str, Path], seals: dict[str, Json], known: dict[Path, dict[str, Json]], left_out: list[Json]
) -> list[Json]:
    cells: dict[tuple[str, str], Json] = {}
    for key in sorted(seals):
        recipe, planned = seals[key]["recipe_sha256"], known[tree_of(folders[key])].get(seals[key]["recipe_sha256"])
        with _named(left_out, key):
            grade, digest = _grade(folders[key], planned)
            if (recipe, digest) not in cells:
                cells[recipe, digest] = _cell(key, seals[key], grade, digest, planned)
            cells[recipe, digest]["repetition_numbers"].append(AttemptId.parse(key).repetition)
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


def _grade(folder: Path, cell: Json | None) -> tuple[str, str]:
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
        raise _Unusable(
            folder / "grades", f"holds no whole result.json, and no plan says how to grade; {_remedy(folder)}"
        )
    newest = max(planned or whole or found)
    return newest[1], newest[2]


def _remedy(folder: Path) -> str:
    """What makes a grade; nothing does once the transcript was pruned."""
    try:
        pruned = STDOUT in records.pruned_of(folder)[0]
    except UserError:
        pruned = False
    return "none can be made, its transcript was pruned" if pruned else "`fairtrial grade` makes one"


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
