"""Version over version: the newest against the previous three pooled (adjacent versions miss most drops)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from fairtrial.analysis import arms as arms_of
from fairtrial.analysis import columns, compare_pair
from fairtrial.analysis.arms import Arm, Json
from fairtrial.analysis.compare_pair import Side
from fairtrial.analysis.stats import rates

POOLED = 3
EARLY = re.compile(r"-(?!post)[a-z]|[._]?(?:a|b|c|rc|alpha|beta|dev|pre)\d*\b", re.IGNORECASE)  # after the numbers


def versions(attempts: pd.DataFrame, settings: Mapping[str, Any] | None = None) -> Json:
    """{"schema_version": 1, "kind": "versions", "arms": [entry], "notes"}, arms with two harness versions or more:

    {"arm", "simulated", "newest", "against": [up to three versions], "ordered_by": "version" | "first start",
     "versions": [{"version", "scored", "passes", "pass_rate"}] from old to new, "pair": PAIR with a = newest}
    Corrected over all arms. Source: docs/statistics.md: at five attempts pooling three finds a 21-point drop in .83,
    adjacent versions in .58.
    """
    chosen = dict(settings or {})
    found, pairs = [], []
    for arm in arms_of.arms(columns.plain(attempts), chosen.get("adapters")):
        known = columns.known_labels(arm.scored(), "harness_version")
        if len(known) < 2 or not arm.compared:
            continue
        order, by = ordered(known, attempts)
        newest, against = order[-1], order[:-1][-POOLED:]
        pairs.append((_side(arm, [newest]), _side(arm, against)))
        found.append({"arm": arm.name, "simulated": arm.simulated, "newest": newest, "against": against,
                      "ordered_by": by, "versions": [_row(arm, version) for version in order]})  # fmt: skip
    for entry, pair in zip(found, compare_pair.table(pairs, chosen), strict=True):
        entry["pair"] = pair
    notes = [] if found else ["no arm was measured with two harness versions"]
    return {"schema_version": 1, "kind": "versions", "arms": found, "notes": notes}


def ordered(known: Sequence[str], attempts: pd.DataFrame) -> tuple[list[str], str]:
    """Versions from old to new: by their numbers, or by first start where one does not begin with a number."""
    if all(re.match(r"v?\d", version) for version in known):
        return sorted(known, key=_natural), "version"
    first = attempts.groupby(attempts["harness_version"].astype(str))["started_at"].min()
    starts = {str(name): str(moment) for name, moment in first.items()}
    return sorted(known, key=lambda version: (starts.get(version, ""), version)), "first start"


def _natural(version: str) -> tuple[Any, ...]:
    """By the numbers, then a pre-release (1.2.0-rc.1, 1.2.0b3) before its release, and what only adds to it after."""
    found = re.match(r"v?(\d+(?:\.\d+)*)(.*)", version, re.DOTALL)
    numbers, rest = found.groups() if found else ("", version)
    early = EARLY.match(rest) is not None
    parts = [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in re.split(r"(\d+)", rest)]
    return [int(part) for part in numbers.split(".") if part], not early, parts


def _only(arm: Arm, wanted: Sequence[str]) -> Arm:
    codes, labels = columns.coded(arm.rows, "harness_version")
    keep = np.isin(codes, [labels.index(version) for version in wanted])
    return replace(arm, rows=arm.rows[keep])


def _side(arm: Arm, wanted: Sequence[str]) -> Side:
    return Side.of(_only(arm, wanted), f"{arm.name} {', '.join(wanted)}")


def _row(arm: Arm, version: str) -> Json:
    passes, tries, _ = columns.pass_counts(_only(arm, [version]).scored())
    rate = rates.pass_rate(passes, tries)
    return {"version": version, "scored": int(tries.sum()), "passes": int(passes.sum()), "pass_rate": rate}
