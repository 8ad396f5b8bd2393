"""The arms of a frame: who they are, what of their plan came to a result, and which may be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fairtrial.analysis import columns

Json = dict[str, Any]
NOT_AGENTS = ("reference", "noop")  # calibrate the tasks; never compared, never ranked
COUNTS = {
    "planned": "attempts of the plan",
    "done": "attempts with a result",
    "scored": "attempts that count",
    "unscored": "attempts with a result that does not count: no verdict, or a fault found late",
    "faults": "attempts that ended in an infrastructure fault and have no result",
    "not_run": "attempts without a result and without a fault",
    "excluded": "attempts left out by hand",
    "problems": "attempts whose record could not be read",
    "earlier_faults": "infrastructure faults before the attempts that have a result",
    "spent_known_usd": "known costs of all attempts with a result, US dollars",
}


@dataclass(frozen=True, slots=True)
class Arm:
    """One arm: a slice of the plain frame (all its planned attempts), sorted by task."""

    name: str  # harness/toolset/adoption/model, with " (simulated)" where a measured arm has the same name
    harness: str
    toolset: str
    adoption: str
    model: str
    simulated: bool
    role: str  # agent | reference | noop
    rows: pd.DataFrame

    @property
    def compared(self) -> bool:
        """Whether it enters comparisons and ranks."""
        return self.role == "agent"

    @property
    def group(self) -> tuple[bool, str]:
        """Only arms of one group are compared without being asked to: (simulated, adoption)."""
        return self.simulated, self.adoption

    def scored(self) -> pd.DataFrame:
        """The rows that count."""
        return columns.only(self.rows, columns.scored_rows(self.rows))

    def identity(self) -> Json:
        """What the arm is, JSON."""
        return {
            "arm": self.name, "harness": self.harness, "toolset": self.toolset, "adoption": self.adoption,
            "model": self.model, "simulated": self.simulated, "role": self.role, "compared": self.compared,
        }  # fmt: skip


def roles(matrix: Mapping[str, Any] | None) -> dict[str, str]:
    """Harness entry -> its adapter, from matrix.json: an entry of any name may use the reference adapter."""
    return {cell["harness"]: cell["adapter"] for cell in (matrix or {}).get("cells", ()) if "adapter" in cell}


def arms(plain: pd.DataFrame, adapters: Mapping[str, str] | None = None) -> list[Arm]:
    """Every arm of a frame made by columns.plain, sorted by name; simulated rows are an arm of their own."""
    code, labels = columns.coded(plain, columns.ARM)
    simulated = columns.truths(plain, "simulated")
    key = code * 2 + simulated
    starts = np.flatnonzero(np.r_[True, np.diff(key) != 0]) if key.size else np.empty(0, dtype=int)
    found = list(_slices(plain, starts, labels, code, simulated))
    double = {name for name, _, _ in found if sum(name == other for other, _, _ in found) > 1}
    return [_arm(name, sim, rows, name in double, adapters or {}) for name, sim, rows in found]


def _slices(plain: pd.DataFrame, starts: Any, labels: list[str], code: Any, simulated: Any) -> Iterator[Any]:
    for start, end in zip(starts, [*starts[1:], len(plain)], strict=False):
        yield labels[code[start]], bool(simulated[start]), plain.iloc[start:end]


def _arm(name: str, simulated: bool, rows: pd.DataFrame, double: bool, adapters: Mapping[str, str]) -> Arm:
    harness, toolset, adoption, model = name.split("/", 3)
    adapter = adapters.get(harness, harness)
    role = adapter if adapter in NOT_AGENTS else "agent"
    shown = f"{name} (simulated)" if double and simulated else name
    return Arm(shown, harness, toolset, adoption, model, simulated, role, rows)


def counts(rows: pd.DataFrame) -> Json:
    """The columns of COUNTS over any rows."""
    status = {name: int(columns.equals(rows, "status", name).sum())
              for name in ("done", "fault", "not_run", "excluded", "problem")}  # fmt: skip
    scored = int(columns.scored_rows(rows).sum())
    cost, earlier = columns.numbers(rows, "cost_usd"), columns.numbers(rows, "earlier_faults")
    return {
        "planned": len(rows), "done": status["done"], "scored": scored, "unscored": status["done"] - scored,
        "faults": status["fault"], "not_run": status["not_run"], "excluded": status["excluded"],
        "problems": status["problem"], "earlier_faults": int(np.nansum(earlier)),
        "spent_known_usd": float(np.nansum(cost)) if not np.isnan(cost).all() else None,
    }  # fmt: skip


def unscored_by_task(rows: pd.DataFrame) -> dict[str, int]:
    """Task -> attempts with a result that does not count; tasks without one are left out."""
    left = rows[columns.equals(rows, "status", "done") & ~columns.scored_rows(rows)]
    code, names = columns.task_codes(left)
    return dict(zip(names, np.bincount(code, minlength=len(names)).tolist(), strict=True))


def seen(rows: pd.DataFrame) -> Json:
    """What was in force, as sorted lists; a list with two entries is a mixed arm."""
    return {
        "harness_versions": columns.known_labels(rows, "harness_version"),
        "models_observed": columns.known_labels(rows, "model_observed"),
        "isolations": columns.known_labels(rows, "isolation"),
        "networks": columns.known_labels(rows, "netns"),
        "mixed_recipe_tasks": _mixed_recipes(rows),
    }


def _mixed_recipes(rows: pd.DataFrame) -> int:
    """Tasks whose attempts come from more than one recipe."""
    code, names = columns.task_codes(rows)
    recipe, labels = columns.coded(rows, "recipe")
    pairs = np.unique(code * (len(labels) + 1) + recipe + 1) // (len(labels) + 1)
    return int((np.bincount(pairs, minlength=len(names)) > 1).sum()) if pairs.size else 0
