"""Fabricated attempts tables (frames, no files), vectorised, for tests and benches of scorecard and comparisons."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

SCHEMA = Path(__file__).parents[1] / "schemas" / "tables" / "attempts.schema.json"
COLUMNS = {name: spec["x-arrow"] for name, spec in json.loads(SCHEMA.read_text())["properties"].items()}
BUDGET = 1800.0
KINDS = {
    "string": pa.string(),
    "json": pa.string(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "bool": pa.bool_(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "timestamp[us, UTC]": pa.timestamp("us", tz="UTC"),
}
# The fabricated page of the design: (harness, model) -> passes and scored attempts of ten tasks.
FIVE = [5] * 10
PAGE = {
    ("alder", "m-large"): ([4, 5, 5, 5, 5, 5, 5, 4, 5, 4], [4] + [5] * 9),
    ("birch", "m-large"): ([5, 5, 4, 5, 5, 5, 5, 5, 5, 4], FIVE),
    ("cedar", "m-large"): ([4, 3, 5, 4, 4, 3, 2, 3, 1, 1], FIVE),
    ("alder", "m-small"): ([4, 4, 5, 5, 5, 4, 5, 4, 2, 3], [5, 4, 5, 5, 5, 5, 5, 5, 5, 4]),
    ("birch", "m-small"): ([5, 5, 5, 4, 4, 5, 5, 4, 3, 2], FIVE),
    ("cedar", "m-small"): ([4, 4, 3, 4, 2, 3, 0, 0, 0, 0], [5] * 9 + [4]),
}


def frame(columns: dict[str, Any]) -> pd.DataFrame:
    """A frame with every column of the table and Arrow types; what is not given is null."""
    rows = len(next(iter(columns.values())))
    arrays = [pa.array(columns[n], KINDS[k], from_pandas=True) if n in columns and k != "dictionary"
              else pa.array(columns[n], pa.string(), from_pandas=True).dictionary_encode() if n in columns
              else pa.nulls(rows, KINDS[k]) for n, k in COLUMNS.items()]  # fmt: skip
    return pa.table(arrays, names=list(COLUMNS)).to_pandas(types_mapper=pd.ArrowDtype)


def cell(passes: int, size: int, /, **same: Any) -> list[dict[str, Any]]:
    """The attempts of one cell as rows: the first ones green, the others red; `same` goes into every row."""
    rows = []
    for i in range(size):
        green = i < passes
        rows.append({
            "suite": "s", "task": "t", "harness": "h", "model": "m", "toolset": "git", "adoption": "warm",
            "recipe": "0" * 12, "repetition": i + 1, "language": "python", "tags": '["bug"]', "status": "done",
            "simulated": False, "free": False, "wall_budget_seconds": BUDGET, "ending": "completed",
            "outcome": "green" if green else "red", "verdict": "passed" if green else "failed", "check_passed": green,
            "scored": True, "agent_seconds": 60.0 + i, "seconds_to_green": 60.0 + i if green else None,
            "cost_usd": 0.1 + i / 100, "harness_version": "1.0", "model_observed": "m", "isolation": "bwrap",
            **same,
        })  # fmt: skip
    return rows


def of_rows(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Rows as a frame; attempt ids are filled in."""
    names = sorted({name for row in rows for name in row})
    columns: dict[str, Any] = {name: [row.get(name) for row in rows] for name in names}
    columns["attempt_id"] = [
        f"{r['suite']}/{r['task']}/{r['harness']}/{r['model']}/{r['recipe']}/r{r['repetition']}" for r in rows
    ]
    return frame(columns)


def page() -> pd.DataFrame:
    """The 300 attempts of the design's page, as far as its outcome grid shows them."""
    rows: list[dict[str, Any]] = []
    for (harness, model), (passes, scored) in PAGE.items():
        for task, (c, n) in enumerate(zip(passes, scored, strict=True)):
            rows += cell(c, n, task=f"task-{task:02d}", harness=harness, model=model, model_observed=model)
    return of_rows(rows)


def many(
    attempts: int, tasks: int, arms: Sequence[tuple[str, str, float]], seed: int = 0, changed_lines: bool = False
) -> pd.DataFrame:
    """About `attempts` attempts over tasks and arms (harness, model, chance to pass), in random order."""
    rng = np.random.default_rng(seed)
    repetitions = max(1, attempts // (tasks * len(arms)))
    size = tasks * len(arms) * repetitions
    order = rng.permutation(size)
    arm, task = order // (tasks * repetitions), order // repetitions % tasks
    hardness = rng.normal(0, 0.25, tasks)
    chance = np.clip(np.array([a[2] for a in arms])[arm] + hardness[task], 0.02, 0.98)
    green = rng.random(size) < chance
    seconds = np.minimum(rng.lognormal(4.5 + hardness[task], 0.5), BUDGET)
    timeout = ~green & (rng.random(size) < 0.2)
    cost = rng.lognormal(-2.5, 0.4, size)
    counts = {name: rng.poisson(mean, size) for name, mean in
              (("vc_reads", 6), ("vc_writes", 3), ("vc_errors", 1), ("tool_calls", 20), ("turns", 12), ("commands", 9),
               ("requests", 12), ("files_changed", 2), ("lines_added", 30), ("lines_removed", 9))}  # fmt: skip
    tokens = {f"{name}_tokens": rng.poisson(mean, size) for name, mean in
              (("input_uncached", 9000), ("cache_read", 50000), ("cache_write", 4000), ("output", 3000))}  # fmt: skip
    names = np.array([f"task-{t:03d}" for t in range(tasks)])
    language, tags = np.array(["python", "go", "javascript"])[task % 3], np.array(['["bug"]', '["feature"]'])[task % 2]
    patches = rng.integers(0, 40, size)
    return frame({
        "attempt_id": [f"a{i}" for i in order], "suite": np.array(["core", "extra"])[task % 2], "task": names[task],
        "harness": np.array([a[0] for a in arms])[arm], "model": np.array([a[1] for a in arms])[arm],
        "toolset": np.full(size, "git"), "adoption": np.full(size, "warm"), "recipe": np.full(size, "0" * 12),
        "repetition": order % repetitions + 1, "language": language, "tags": tags, "status": np.full(size, "done"),
        "simulated": np.zeros(size, bool), "wall_budget_seconds": np.full(size, BUDGET),
        "ending": np.where(timeout, "timeout", "completed"),
        "outcome": np.where(green, "green", np.where(timeout, "timeout", "red")), "check_passed": green,
        "scored": np.ones(size, bool), "agent_seconds": np.where(timeout, BUDGET, seconds),
        "seconds_to_green": np.where(green, seconds, np.nan),
        "cost_usd": np.where(rng.random(size) < 0.9, cost, np.nan),
        "harness_version": np.full(size, "1.0"), "isolation": np.full(size, "bwrap"),
        "checks_passed": np.where(green, 4, 2), "checks_total": np.full(size, 4), "violations": np.zeros(size, int),
        "changed_lines": [json.dumps([f"{t}-{p}", f"{t}-x"]) for t, p in zip(task, patches, strict=True)]
        if changed_lines else [None] * size,
        **counts, **tokens,
    })  # fmt: skip
