"""Which recipes lie on disk, and manifests: explicit choices of their attempts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairtrial.contracts import records
from fairtrial.contracts.errors import UserError
from fairtrial.paths import Attempt, Results

Json = dict[str, Any]
MOMENT = re.compile(r"\d{4}-[01]\d-[0-3]\d(?:T[\d:.]+Z?)?")
FILTERS = ("suite", "task", "harness", "model", "toolset", "adoption", "version")


@dataclass(slots=True)
class Recipe:
    """One recipe and its sealed attempts."""

    recipe: str  # 12 hex digits
    suite: str
    task: str
    harness: str
    model: str
    toolset: str
    adoption: str
    version: str  # observed, "mixed" where attempts differ, "" unknown
    first: str = ""  # earliest and latest start, UTC
    last: str = ""
    attempts: list[Path] = field(default_factory=list)


def on_disk(results: Path, problems: list[str] | None = None) -> list[Recipe]:
    """Every recipe with a sealed attempt below `results`, sorted by task and arm; unreadable seals go to `problems`."""
    found: dict[tuple[str, str, str, str, str], Recipe] = {}
    for attempt in Results(results).attempts():
        evidence = read(attempt, problems)
        if evidence is None:
            continue
        key = (attempt.id.suite, attempt.id.task, attempt.id.harness, attempt.id.model, attempt.id.recipe)
        one = found.setdefault(key, _new(attempt, evidence["recipe"]))
        _add(one, attempt, evidence)
    return [found[key] for key in sorted(found)]


def read(attempt: Attempt, problems: list[str] | None = None) -> Json | None:
    """The evidence of one attempt, as far as this module needs it; None when there is no whole seal."""
    if not attempt.evidence.exists():
        return None
    try:
        evidence: Json = json.loads(attempt.evidence.read_bytes())
        if not isinstance(evidence["recipe"], dict) or not isinstance(evidence["started_at"], str):
            raise TypeError("recipe or started_at has the wrong type")
    except (ValueError, KeyError, TypeError) as error:
        if problems is not None:
            problems.append(f"{attempt.evidence}: {error}")
        return None
    return evidence


def _new(attempt: Attempt, recipe: Json) -> Recipe:
    toolset = recipe.get("toolset") or {}
    return Recipe(attempt.id.recipe, attempt.id.suite, attempt.id.task, attempt.id.harness, attempt.id.model,
                  str(toolset.get("name", "")), str(recipe.get("adoption", "")), "")  # fmt: skip


def _add(one: Recipe, attempt: Attempt, evidence: Json) -> None:
    version, started = str((evidence.get("versions") or {}).get("harness_observed") or ""), evidence["started_at"]
    one.version = version if not one.attempts or one.version == version else "mixed"
    one.first, one.last = min(one.first or started, started), max(one.last, started)
    one.attempts.append(attempt.folder)


def select(
    found: Iterable[Recipe], wanted: Mapping[str, str | None], prefixes: Iterable[str] = (),
    since: str | None = None, until: str | None = None,
) -> list[Recipe]:  # fmt: skip
    """Recipes that have every wanted value (keys of FILTERS) and begin with one of the prefixes.

    `since`, `until`: days or times, UTC, of the last and of the first start. Raises UserError for a prefix that fits no
    recipe and for what is no day.
    """
    for option, moment in (("--since", since), ("--until", until)):
        if moment is not None and not MOMENT.fullmatch(moment):
            raise UserError(f"{option} {moment}: give a day such as 2026-01-31, or a time such as 2026-01-31T14:30")
    since, until = (moment and moment.removesuffix("Z") for moment in (since, until))  # `:05.1Z` sorts before `Z`
    everything, starts = list(found), tuple(prefixes)
    for prefix in starts:
        if not any(one.recipe.startswith(prefix) for one in everything):
            known = ", ".join(sorted({one.recipe for one in everything})[:10]) or "none"
            raise UserError(f"--recipe {prefix}: no recipe on disk begins so; there are {known}")
    return [
        one for one in everything
        if all(value is None or getattr(one, key) == value for key, value in wanted.items())
        and (not starts or one.recipe.startswith(starts))
        and (since is None or one.last >= since)
        and (until is None or one.first[: len(until)] <= until)
    ]  # fmt: skip


def write_manifest(path: Path, chosen: Iterable[Recipe], title: str | None = None) -> int:
    """Write the attempts of the chosen recipes, relative to the manifest's folder; returns how many there are."""
    start = path.parent.resolve()
    attempts = [os.path.relpath(folder.resolve(), start) for one in chosen for folder in one.attempts]
    if not attempts:
        raise UserError("recipes: nothing chosen, so no manifest is written; loosen the filters")
    record: Json = {"schema_version": 1, "attempts": [Path(p).as_posix() for p in attempts]}
    records.dump(path, record | ({"title": title} if title else {}), durable=False)
    return len(attempts)


def table(found: Iterable[Recipe]) -> Iterator[str]:
    """Lines for a terminal, one a recipe."""
    rows = [("recipe", "task", "harness", "model", "toolset", "adoption", "version", "n", "last start")]
    for one in found:
        last = one.last[:16].replace("T", " ")
        rows.append((one.recipe, f"{one.suite}/{one.task}", one.harness, one.model, one.toolset, one.adoption,
                     one.version or "-", str(len(one.attempts)), last))  # fmt: skip
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield "".join(c if c.isprintable() else "?" for c in line)


def records_of(folders: Iterable[Path]) -> dict[str, Json]:
    """recipe12 -> its record, from the seals of attempt folders; one seal is read per recipe."""
    found: dict[str, Json] = {}
    for folder in folders:
        if folder.parent.name not in found:
            try:
                recipe = json.loads((folder / "evidence.json").read_bytes())["recipe"]
            except (OSError, ValueError, KeyError, TypeError):
                continue  # a missing or torn seal only leaves the change unnamed
            found[folder.parent.name] = recipe
    return found
