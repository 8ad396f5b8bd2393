"""What differs between two sides beside their outcome: two changes at once cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairtrial.analysis import columns
from fairtrial.analysis.arms import Arm

IN_FORCE = {"isolation": "isolation", "netns": "network isolation"}
COVERED = ("suite", "task", "adoption", "schema_version", "isolation")


LABELS = {"harness_version": "harness version", "model_observed": "observed model", **IN_FORCE}


@dataclass(frozen=True, slots=True)
class Facts:
    """What was in force on one side; unknown values are left out."""

    labels: dict[str, list[str]]  # column of LABELS -> its values
    recipe: dict[str, set[str]]  # by task
    grade: dict[str, set[str]]
    budget: dict[str, float]  # seconds by task

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Facts:
        """From the scored rows of one side."""
        code, names = columns.task_codes(rows)
        budget = columns.numbers(rows, "wall_budget_seconds")
        known = ~np.isnan(budget)
        return cls(
            {name: columns.known_labels(rows, name) for name in LABELS},
            _by_task("recipe", rows, code, names),
            _by_task("grade", rows, code, names),
            {names[task]: seconds for task, seconds in zip(code[known], budget[known].tolist(), strict=True)},
        )


def changed(a: Arm, b: Arm, in_a: Facts, in_b: Facts, recipes: Mapping[str, Any] | None = None) -> list[str]:
    """Names of the keys that differ, each with both values (from b to a); two or more mean "confounded".

    Another harness brings its own version, another model its own name, so these are not counted twice; a value that
    is unknown on one side is no change. Of recipes that differ for no named reason, `recipes` tells the keys.
    """
    found = [f"{axis}: {getattr(b, axis)} -> {getattr(a, axis)}" for axis in columns.AXES
             if getattr(a, axis) != getattr(b, axis)]  # fmt: skip
    implied = {"harness_version": a.harness != b.harness, "model_observed": a.model != b.model}
    for name, shown in LABELS.items():
        left, right = in_a.labels[name], in_b.labels[name]
        if left and right and left != right and not implied.get(name, False):
            found.append(f"{shown}: {', '.join(right)} -> {', '.join(left)}")
    if any(in_a.budget[task] != in_b.budget[task] for task in in_a.budget.keys() & in_b.budget.keys()):
        found.append("wall-clock budget")
    if a.harness == b.harness and _differ(in_a.grade, in_b.grade):
        found.append("verifier or its settings")
    if all(getattr(a, axis) == getattr(b, axis) for axis in columns.AXES):
        found += _recipe(in_a.recipe, in_b.recipe, recipes or {}, bool(found))
    return found


def _by_task(name: str, rows: pd.DataFrame, code: Any, names: Sequence[str]) -> dict[str, set[str]]:
    value, labels = columns.coded(rows, name)
    found: dict[str, set[str]] = {}
    for pair in np.unique(code * (len(labels) + 1) + value + 1).tolist():
        task, label = divmod(pair, len(labels) + 1)
        if label:
            found.setdefault(names[task], set()).add(labels[label - 1])
    return found


def _differ(left: Mapping[str, set[str]], right: Mapping[str, set[str]]) -> list[str]:
    """Common tasks whose values differ."""
    return [task for task in sorted(left.keys() & right.keys()) if left[task] != right[task]]


def _recipe(
    left: Mapping[str, set[str]], right: Mapping[str, set[str]], recipes: Mapping[str, Any], explained: bool
) -> list[str]:
    """Keys of the recipes that differ; without the recipes just that they do, if nothing else explains it."""
    tasks = _differ(left, right)
    if not tasks:
        return []
    keys: set[str] = set()
    for task in tasks:
        one, other = recipes.get(min(left[task])), recipes.get(min(right[task]))
        if one is not None and other is not None:
            keys |= set(_paths(one, other, ""))
    if keys:
        return [f"recipe: {key}" for key in sorted(keys)]
    return [] if explained else ["recipe (prompt, workspace, options, skill files or budget)"]


def _paths(one: Any, other: Any, where: str) -> Iterator[str]:
    """Dotted keys whose values differ, down to the second level; keys told elsewhere are left out."""
    if isinstance(one, Mapping) and isinstance(other, Mapping) and where.count(".") < 2:
        for key in sorted(one.keys() | other.keys()):
            path = f"{where}.{key}" if where else str(key)
            if path not in (*COVERED, "harness.version", "harness.name", "model.name", "budget.wall_seconds"):
                yield from _paths(one.get(key), other.get(key), path)
    elif one != other:
        yield where
