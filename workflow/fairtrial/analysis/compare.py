"""Two arms on the same tasks, paired by task; nobody is named the winner while an interval is unresolved.

PAIR = {
  "a": SIDE, "b": SIDE                 SIDE = {"label", "arm", "harness", "toolset", "adoption", "model", "simulated",
                                               "scored", "passes", "tasks", "harness_versions", "models_observed"}
  "axes": ["harness"],                 the identity keys in which they differ
  "tasks": {"common": T, "only_a": [task], "only_b": [task]},   unequal sets are intersected, and said in notes
  "pass_rate": {"a", "b", "difference",                     over the common tasks, fractions
      "low", "high", "level", "joint_over",                 tasks like these: pseudo-task interval, joint over a table
      "p", "q", "smallest_p", "method",                     sign-flip over tasks
      "these_low", "these_high",                            exactly these tasks: Newcombe, pooled
      "these_p", "these_q", "these_method"},                exactly these tasks: stratified exact
  "per_task": [{"task", "a_passes", "a_attempts", "b_passes", "b_attempts", "difference", "p", "q"}],
  "reliability": {"k", "tasks", "a", "b", "difference"},     pass^k over tasks with k attempts on both sides; k is the
                                                            setting, else "attempts" below
  "time": {"p", "q", "observed", "expected",                log-rank stratified by task, events of a
           "a_mean_seconds", "b_mean_seconds", "difference_seconds", "low", "high",     a failure at its budget
           "reading", "sooner": label | null},              null also where test and mean disagree: curves that cross
  "seconds", "cost", "tokens": {"ratio", "low", "high", "p", "q", "tasks"},   a / b, geometric, green attempts only
  "detectable": {"planned", "observed", "corrected",        smallest difference found with power .8, fractions
                 "attempts"},                               per task, of the arm with fewer, rounded down
  "changed": [text], "confounded": bool,
  "reading": "separated" | "not separated", "better": label | null,
  "reading_these_tasks": the same for exactly these tasks, "sentence": text, "notes": [text]}

Differences are a - b; p, q and bounds are null where they cannot be computed. Money US dollars, times seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from typing import Any

import pandas as pd

from fairtrial.analysis import arms as arms_of
from fairtrial.analysis import columns, compare_pair, compare_rank
from fairtrial.analysis.arms import Arm, Json
from fairtrial.analysis.compare_pair import Side
from fairtrial.contracts.errors import UserError

Key = tuple[str, str, str, str, bool]  # harness, toolset, adoption, model, simulated
TABLE_AXES = ("harness", "model", "toolset")


def compare(attempts: pd.DataFrame, arm_a: str, arm_b: str, settings: Mapping[str, Any] | None = None) -> Json:
    """{"schema_version": 1, "kind": "arms", "pairs": [PAIR], "notes": [text]} of two arms.

    They are named in full or by any of their parts: "alder" against "birch" gives one pair per model, toolset and
    adoption that both have; q and intervals hold over those pairs. Settings: alpha (.05), k of pass^k, recipes
    {recipe12: record} to name what changed, adapters {harness: adapter}.
    Raises UserError for names that fit no arm, the reference or noop, or arms of which only one is simulated.
    """
    chosen = dict(settings or {})
    arms = arms_of.arms(columns.plain(attempts), chosen.get("adapters"))
    pairs = _matched(_named(arms, arm_a), _named(arms, arm_b), arm_a, arm_b)
    found = compare_pair.table([(Side.of(a), Side.of(b)) for a, b in pairs], chosen)
    return {"schema_version": 1, "kind": "arms", "pairs": found, "notes": []}


def all_pairs(attempts: pd.DataFrame, settings: Mapping[str, Any] | None = None) -> Json:
    """Every table of comparisons of one run, each corrected over itself.

    {"schema_version": 1, "kind": "tables",
     "tables": [{"axis": "harness" | "model" | "toolset", "simulated": bool, "adoption", "pairs": [PAIR],
                 "separated": int, "detectable": {"planned", "tasks", "attempts"}}],
     "rank": as in the scorecard, "notes": [text]}
    A table holds the pairs that differ in its axis only: harnesses with the same model, models in the same harness.
    Simulated arms are in tables of their own, cold is not compared with warm, reference and noop with nothing.
    """
    chosen = dict(settings or {})
    arms = arms_of.arms(columns.plain(attempts), chosen.get("adapters"))
    agents = [arm for arm in arms if arm.compared]
    sides = {arm.name: Side.of(arm) for arm in agents}
    tables = []
    for group in sorted({arm.group for arm in agents}):
        members = [arm for arm in agents if arm.group == group]
        for axis in TABLE_AXES:
            pairs = [(sides[a.name], sides[b.name]) for a, b in combinations(members, 2) if axes(a, b) == [axis]]
            if pairs:
                tables.append({"axis": axis, "simulated": group[0], "adoption": group[1]} | _table(pairs, chosen))
    return {
        "schema_version": 1,
        "kind": "tables",
        "tables": tables,
        "rank": compare_rank.ranks(agents, chosen.get("alpha", 0.05)),
        "notes": _left_out(arms),
    }


def before_after(before: pd.DataFrame, after: pd.DataFrame, settings: Mapping[str, Any] | None = None) -> Json:
    """A matched before and after: {"schema_version": 1, "kind": "before_after", "pairs": [PAIR with a = after,
    b = before], "only_before": [arm], "only_after": [arm], "notes": [text]}.

    Arms of the same name are compared; where no name is on both sides, one arm each is compared as it is. Simulated
    arms are matched with simulated ones only. Raises UserError when nothing can be matched.
    """
    chosen = dict(settings or {})
    old, new = (
        {(a.harness, a.toolset, a.adoption, a.model, a.simulated): a
         for a in arms_of.arms(columns.plain(frame), chosen.get("adapters")) if a.compared}
        for frame in (before, after)
    )  # fmt: skip
    keys = _both_sides(old, new)
    pairs = [(Side.of(new[a], f"after ({new[a].name})"), Side.of(old[b], f"before ({old[b].name})")) for a, b in keys]
    only_old, only_new = (
        sorted(arm.name for key, arm in side.items() if key not in used)
        for side, used in ((old, {b for _, b in keys}), (new, {a for a, _ in keys}))
    )
    notes = ["only arms on both sides are compared"] if only_old or only_new else []
    return {
        "schema_version": 1,
        "kind": "before_after",
        "pairs": compare_pair.table(pairs, chosen),
        "only_before": only_old,
        "only_after": only_new,
        "notes": notes + _same(before, after),
    }


def _both_sides(old: Mapping[Key, Arm], new: Mapping[Key, Arm]) -> list[tuple[Key, Key]]:
    """Keys of (after, before): equal ones, else the only one of each side; never a simulated and a measured arm."""
    keys = [(key, key) for key in sorted(old.keys() & new.keys())]
    if not keys and len(old) == len(new) == 1:
        keys = [(a, b) for a in new for b in old if a[-1] == b[-1]]
    if not keys:
        names = ["; ".join(arm.name + " (simulated)" * (arm.simulated and "(simulated)" not in arm.name)
                           for arm in side.values()) or "none" for side in (old, new)]  # fmt: skip
        raise UserError(
            f"compare: no arm is on both sides; before: {names[0]}; after: {names[1]}; choose selections of the same "
            "harness, toolset, adoption and model, or of one arm each; simulated arms are never compared with "
            "measured ones"
        )
    return keys


def _same(before: pd.DataFrame, after: pd.DataFrame) -> list[str]:
    """Said of attempts that are on both sides."""
    both = len(set(before["attempt_id"]) & set(after["attempt_id"]))
    return [f"on both sides, and so compared with themselves: attempts {both}"] if both else []


def axes(a: Arm, b: Arm) -> list[str]:
    """The identity keys in which two arms differ."""
    return [axis for axis in columns.AXES if getattr(a, axis) != getattr(b, axis)]


def _table(pairs: Sequence[tuple[Side, Side]], settings: Json) -> Json:
    found = compare_pair.table(pairs, settings)
    largest = max(found, key=lambda pair: pair["tasks"]["common"])
    return {
        "pairs": found,
        "separated": sum(pair["reading"] == "separated" for pair in found),
        "detectable": {
            "planned": largest["detectable"]["planned"],
            "tasks": largest["tasks"]["common"],
            "attempts": largest["detectable"]["attempts"],
        },
    }


def _left_out(arms: Sequence[Arm]) -> list[str]:
    left = [arm.name for arm in arms if not arm.compared]
    return [f"not compared, because they calibrate the tasks: {', '.join(left)}"] if left else []


def _named(arms: Sequence[Arm], text: str) -> list[Arm]:
    """Arms whose parts include every part of `text`; the full name wins."""
    exact = [arm for arm in arms if arm.name == text]
    parts = [part for part in text.split("/") if part]
    found = exact or [arm for arm in arms if parts and set(parts) <= {getattr(arm, axis) for axis in columns.AXES}]
    if not found:
        raise UserError(f"compare: no arm is called {text!r}; arms: {', '.join(arm.name for arm in arms) or 'none'}")
    agents = [arm for arm in found if arm.compared]
    if not agents:
        compared = ", ".join(arm.name for arm in arms if arm.compared) or "none"
        raise UserError(
            f"compare: {text!r} only calibrates the tasks ({found[0].role}) and is never compared; "
            f"arms that are: {compared}"
        )
    return agents


def _matched(first: Sequence[Arm], second: Sequence[Arm], arm_a: str, arm_b: str) -> list[tuple[Arm, Arm]]:
    """Pairs that differ in the fewest keys; simulated arms only with simulated ones."""
    pairs: list[tuple[Arm, Arm]] = []
    for a, b in product(first, second):
        if a.name != b.name and a.simulated == b.simulated and (b, a) not in pairs:  # each pair once, in one direction
            pairs.append((a, b))
    if not pairs:
        mixed = {a.simulated for a in first} != {b.simulated for b in second}
        why = "one is simulated and the other measured" if mixed else "they are the same arm"
        raise UserError(f"compare: {arm_a!r} and {arm_b!r} cannot be compared: {why}")
    fewest = min(len(axes(a, b)) for a, b in pairs)
    return [(a, b) for a, b in pairs if len(axes(a, b)) == fewest]
