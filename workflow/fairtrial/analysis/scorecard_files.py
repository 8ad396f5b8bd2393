"""The scorecard on disk: scorecard.json (all of it), scorecard.csv and scorecard.parquet (one row per arm)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairtrial.analysis import dataset_csv
from fairtrial.analysis.arms import COUNTS, Json
from fairtrial.contracts import records

TEXTS = ("arm", "harness", "toolset", "adoption", "model", "role")
LISTS = ("harness_versions", "models_observed", "isolations", "networks")
BOOLS = ("simulated", "compared")
MONEY = ("spent_known_usd",)


def write(scorecard: Json, folder: Path) -> None:
    """Write the three files below `folder`; same scorecard, same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    records.dump(folder / "scorecard.json", scorecard, durable=False)
    rows = [flat(row, scorecard) for row in scorecard["arms"]]
    names = list(columns_of(scorecard))
    records.write_bytes(folder / "scorecard.csv", as_csv(names, rows), durable=False)
    _parquet(scorecard, rows, folder / "scorecard.parquet")


def columns_of(scorecard: Json) -> dict[str, str]:
    """Flat column -> its group: identity, counts, or a metric group. k columns are spelled out: pass_hat_3."""
    found = dict.fromkeys(
        (*TEXTS, *BOOLS, *LISTS, "mixed_recipe_tasks", "rank_low", "rank_high", "rank_of"), "identity"
    )
    found |= dict.fromkeys(COUNTS, "counts")
    for name, group in scorecard["groups"].items():
        if name.endswith("_k"):
            for k in scorecard["k"]:
                found |= {f"{name[:-1]}{k}": group, f"{name[:-1]}{k}_tasks": group}
        else:
            found[name] = group
    return found


def flat(row: Json, scorecard: Json) -> Json:
    """One arm as column -> value; None is null, lists are joined with "; "."""
    found: Json = {name: row[name] for name in (*TEXTS, *BOOLS, "mixed_recipe_tasks")}
    found |= {name: "; ".join(row[name]) for name in LISTS}
    rank = row["rank"] or {}
    found |= {f"rank_{name}": rank.get(name) for name in ("low", "high", "of")} | row["counts"]
    for name, group in scorecard["groups"].items():
        value = row[group].get(name)
        if not name.endswith("_k"):
            found[name] = value
            continue
        for k, one in value.items():
            found |= {f"{name[:-1]}{k}": one["value"], f"{name[:-1]}{k}_tasks": one["tasks"]}
    return found


def as_csv(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    """UTF-8, LF; empty is null; text that a spreadsheet would run gets an apostrophe, numbers never."""
    lines = [list(names), *([_cell(row.get(name)) for name in names] for row in rows)]
    return "".join(map(dataset_csv.csv_line, lines)).encode("utf-8", "replace")


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return dataset_csv.defuse(value) if isinstance(value, str) else repr(value)


def _parquet(scorecard: Json, rows: Sequence[Json], path: Path) -> None:
    """Fixed types: text, bool, counts and ranks int64, every metric float64, whatever is null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = []
    for name, group in columns_of(scorecard).items():
        whole = name not in MONEY and (group == "counts" or name.startswith("rank_") or name == "mixed_recipe_tasks")
        kind = pa.string() if name in (*TEXTS, *LISTS) else pa.bool_() if name in BOOLS else pa.float64()
        fields.append(pa.field(name, pa.int64() if whole else kind, metadata={"group": group}))
    table = pa.Table.from_pylist(rows, schema=pa.schema(fields, metadata={"fairtrial_table": "scorecard"}))
    temporary = path.with_name(f".{path.name}.tmp")
    pq.write_table(table, temporary, compression="zstd")
    temporary.rename(path)
