"""The scorecard: one row per arm, and per task, suite, language and tag. No blended score, no ranking by order.

    build(attempts, matrix, settings) -> {
      "schema_version": 1, "k": [1, 3], "sorted_by": "pass_hat_3, then pass_rate",
      "arms": [ARM], "by_task": [TASK], "by_suite": [PART], "by_language": [PART], "by_tag": [PART],
      "rank": [{"simulated": false, "adoption": "warm", "arms": 6, "pairs": 15, "level": .95,
                "ranges": [{"arm", "low", "high", "of"}], "separated": [{"better", "worse"}]}],
      "definitions": {column: caption}, "groups": {column: group}, "notes": [text]}

    ARM   {"arm": "harness/toolset/adoption/model", "harness", "toolset", "adoption", "model", "simulated",
           "role": "agent" | "reference" | "noop", "compared": bool,
           "harness_versions": [..], "models_observed": [..], "isolations": [..], "networks": [..],
           "mixed_recipe_tasks": int, "rank": {"low", "high", "of"} | null,
           "counts": {planned, done, scored, unscored, faults, not_run, excluded, problems, earlier_faults,
                      spent_known_usd},
           "execution": {..}, "correctness": {..}, "compliance": {..}, "effort": {..}, "time_cost": {..}}
           where pass_at_k and pass_hat_k are {"3": {"value": number | null, "tasks": int, "of": int}}
    PART  as ARM without the rank and what was seen, with "suite", "language" or "tag"
    TASK  {"arm", "simulated", "compared", "suite", "task", "language", planned .. problems (as in counts),
           "passes", "pass_rate", "these_low", "these_high", "pass_at_k": {"3": number | null}, "pass_hat_k",
           "flip_rate", "median_seconds_to_green", "mean_seconds_to_green", "cost_per_success_usd", "cost_known",
           "cv_cost", "cv_tokens", "cv_seconds"}

Rates are fractions 0..1, times seconds, money US dollars; null is "not measured" and never 0.
write(scorecard, folder) leaves scorecard.json, scorecard.csv and scorecard.parquet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from fairtrial import registry
from fairtrial.analysis import arms as arms_of
from fairtrial.analysis import columns, compare_rank, scorecard_tasks
from fairtrial.analysis.arms import Arm, Json
from fairtrial.analysis.scorecard_files import write

__all__ = ["build", "definitions", "write"]

METRICS = "fairtrial.analysis.metrics"
GROUPS = ("execution", "correctness", "compliance", "effort", "time_cost")
NOTES = (
    "The order of the rows is not a ranking: the rank range counts only differences that survive correction.",
    "Unscored attempts are listed and counted in both bounds; they are in no rate.",
    "Efficiency columns rest on green attempts only.",
)


def build(attempts: pd.DataFrame, matrix: Mapping[str, Any] | None, settings: Mapping[str, Any] | None = None) -> Json:
    """The scorecard of an attempts table (see the module's docstring for its shape).

    `attempts`: columns of schemas/tables/attempts.schema.json, any pandas types; missing columns count as null.
    `matrix`: matrix.json or None. `settings`: k (else the matrix's, else [1]), level (.95), seed (0).
    """
    chosen = _settings(matrix, settings)
    frame = columns.plain(attempts)
    arms = arms_of.arms(frame, arms_of.roles(matrix))
    rank = compare_rank.ranks(arms)
    places = {one["arm"]: one for group in rank for one in group["ranges"]}
    rows = [_arm_row(arm, chosen, places.get(arm.name)) for arm in arms]
    best = str(max(chosen["k"]))
    rows.sort(key=lambda row: _place(row, best))
    return {
        "schema_version": 1,
        "k": chosen["k"],
        "sorted_by": f"pass_hat_{best}, then pass_rate",
        "arms": rows,
        "by_task": scorecard_tasks.rows(frame, arms, chosen["k"]),
        "by_suite": _parts(arms, chosen, "suite", _by_text("suite")),
        "by_language": _parts(arms, chosen, "language", _by_text("language")),
        "by_tag": _parts(arms, chosen, "tag", _by_tag),
        "rank": rank,
        "definitions": definitions(),
        "groups": {name: module.GROUP for module in metrics() for name in module.COLUMNS},
        "notes": list(NOTES),
    }


@cache
def metrics() -> tuple[ModuleType, ...]:
    """Every module of analysis/metrics, in the order of the column groups."""
    found = [registry.load(METRICS, name) for name in registry.names(METRICS)]
    return tuple(sorted(found, key=lambda module: (GROUPS.index(module.GROUP), getattr(module, "PLACE", 50))))


def definitions() -> dict[str, str]:
    """Column -> what it is and its unit, for captions, the CSV's data package and the docs."""
    return dict(arms_of.COUNTS) | {name: text for module in metrics() for name, text in module.COLUMNS.items()}


def _settings(matrix: Mapping[str, Any] | None, settings: Mapping[str, Any] | None) -> Json:
    given = dict(settings or {})
    k = given.get("k") or (matrix or {}).get("k") or [1]
    return {"level": 0.95, "seed": 0, **given, "k": sorted({int(x) for x in k})}


def _figures(rows: pd.DataFrame, settings: Json, whole_arm: bool) -> Json:
    """Counts and every metric of some rows of one arm, by group."""
    scored = columns.only(rows, columns.scored_rows(rows))
    settings = {**settings, "unscored": arms_of.unscored_by_task(rows)}
    found: Json = {"counts": arms_of.counts(rows)} | {group: {} for group in GROUPS}
    for module in metrics():
        if whole_arm or not getattr(module, "ARM_ONLY", False):
            found[module.GROUP] |= module.compute(scored, settings)
    return found


def _arm_row(arm: Arm, settings: Json, rank: Json | None) -> Json:
    place = {key: rank[key] for key in ("low", "high", "of")} if rank else None
    return arm.identity() | arms_of.seen(arm.rows) | {"rank": place} | _figures(arm.rows, settings, True)


def _place(row: Json, k: str) -> tuple[Any, ...]:
    """Agents before the reference, measured before simulated, warm before cold; then pass^k, then pass rate."""
    every, rate = row["correctness"]["pass_hat_k"][k]["value"], row["correctness"]["pass_rate"]
    unknown = float("-inf")
    return (
        not row["compared"],
        row["simulated"],
        row["adoption"] != "warm",
        -(unknown if every is None else every),
        -(unknown if rate is None else rate),
        row["arm"],
    )


Parts = Callable[[pd.DataFrame], Iterator[tuple[str, Any]]]


def _parts(arms: list[Arm], settings: Json, axis: str, split: Parts) -> list[Json]:
    """One row per arm and part of the axis, in the order of the arms."""
    return [
        {axis: name} | arm.identity() | _figures(columns.only(arm.rows, mask), settings, False)
        for arm in arms
        for name, mask in split(arm.rows)
    ]


def _by_text(name: str) -> Parts:
    def split(rows: pd.DataFrame) -> Iterator[tuple[str, Any]]:
        codes, labels = columns.coded(rows, name)
        for code in np.unique(codes[codes >= 0]):
            yield labels[code], codes == code

    return split


def _by_tag(rows: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """An attempt counts for each of its task's tags."""
    codes, labels = columns.coded(rows, "tags")
    carried = {int(code): set(json.loads(labels[code])) for code in np.unique(codes[codes >= 0])}
    for tag in sorted(set().union(*carried.values())):
        yield tag, np.isin(codes, [code for code, tags in carried.items() if tag in tags])
