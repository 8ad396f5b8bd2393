"""From sealed, graded attempts to tables: one row per planned attempt, whatever became of it.

<out>/
    attempts.parquet checks.parquet commands.parquet tool_calls.parquet requests.parquet faults.parquet
    time-to-green.csv datapackage.json     the fourteen columns, for a spreadsheet
    problems.json                          records that were left out, each with its path and the reason
    shards/                                a cache; may be deleted
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from fairtrial.analysis import dataset_csv, dataset_shards, dataset_tables
from fairtrial.analysis.dataset_faults import BY_HAND, by_hand, faults
from fairtrial.analysis.dataset_shards import MEASURED, Planned, Shard
from fairtrial.contracts import records

Row = dict[str, Any]
Prices = Mapping[str, Mapping[str, Any]]


def build(
    results: Path | Sequence[Path],
    matrix: Row,
    out: Path,
    prices: Prices | None = None,
    folders: Mapping[str, Path] | None = None,
    *,
    left_out: Iterable[Row] = (),
) -> Row:
    """Write every table of `matrix` to `out`; returns counts by status, {planned, done, fault, ..., problems}.

    `results` is the results tree (several, when `folders` says where each attempt is), `prices` maps a model's slug to
    its price entry of models.yaml (US dollars per million tokens), `folders` names where an attempt is when it is not
    below `results` (a selection). Bad records are named in problems.json, with those of `left_out` ({path, attempt_id,
    reason}), and never fatal. Same input, same bytes, with or without the cache.
    """
    roots = [results] if isinstance(results, Path) else list(results)
    planned = plan_of(roots[0], matrix, folders)
    shards = _shards(planned, out / "shards")
    problems = [*left_out, *(line for shard in shards for line in shard.problems)]
    merged = {name: _concat(name, [shard.tables[name] for shard in shards]) for name in MEASURED}
    marks = by_hand(roots, planned, problems)
    fault_rows = faults(roots, planned, prices, problems)
    lost = {
        "problem": {line["attempt_id"] for line in problems if line["path"].endswith("/result.json")},
        "fault": {row["attempt_id"] for row in fault_rows},
    }
    attempts = _attempts(planned, merged, marks, lost, prices)
    return _write(out, planned, merged | {"attempts": attempts}, fault_rows, problems)


def from_rows(rows: Row, out: Path) -> Row:
    """Write the tables of foreign records: {"matrix", "attempts", "checks", "faults", "problems"} of an importer.

    Planned attempts that the other tool has no record of are rows with status fault or not_run, as everywhere.
    """
    planned = plan_of(Path(), rows["matrix"])
    merged = {name: dataset_tables.from_rows(name, rows.get(name, [])) for name in MEASURED}
    lost = {"fault": {row["attempt_id"] for row in rows["faults"]}}
    merged["attempts"] = _attempts(planned, merged, {name: {} for name in BY_HAND}, lost, None)
    return _write(out, planned, merged, rows["faults"], list(rows["problems"]))


def _write(out: Path, planned: Sequence[Planned], merged: Mapping[str, Any], fault_rows: list[Row],
           problems: list[Row]) -> Row:  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    dataset_tables.write("attempts", merged["attempts"], out / "attempts.parquet")
    for name in MEASURED[1:]:
        dataset_tables.write(name, _in_order(merged[name], planned), out / f"{name}.parquet")
    dataset_tables.write("faults", dataset_tables.from_rows("faults", fault_rows), out / "faults.parquet")
    problems.sort(key=lambda line: (line["path"], line["reason"]))
    records.dump(out / "problems.json", {"schema_version": 1, "problems": problems}, durable=False)
    dataset_csv.write(out, planned, merged["attempts"], merged["checks"], fault_rows)
    counts = Counter(merged["attempts"]["status"].to_pylist())
    return {"planned": len(planned), **dict(sorted(counts.items())), "problems": len(problems)}


def plan_of(results: Path, matrix: Row, folders: Mapping[str, Path] | None = None) -> list[Planned]:
    """Every planned attempt of a matrix, in the order of the rows."""
    planned = []
    root = str(results / "attempts")
    for cell in matrix["cells"]:
        stem = f"{cell['suite']}/{cell['task']}/{cell['harness']}/{cell['model']}/{cell['recipe']}"
        for repetition in cell.get("repetition_numbers") or range(1, cell["repetitions"] + 1):
            key = f"{stem}/r{repetition}"
            folder = str(folders[key]) if folders and key in folders else f"{root}/{key}"
            planned.append(Planned(key, cell, repetition, folder))
    if folders is not None:
        planned = [one for one in planned if one.id in folders]
    planned.sort(key=_place)
    return planned


def _place(one: Planned) -> tuple[Any, ...]:
    cell = one.cell
    return (cell["suite"], cell["task"], cell["harness"], cell["model"], cell["toolset"], cell["adoption"],
            cell["recipe"], one.repetition)  # fmt: skip


def _shards(planned: Sequence[Planned], folder: Path) -> list[Shard]:
    groups: dict[str, list[Planned]] = {}
    for one in planned:
        groups.setdefault(dataset_shards.name_of(one.cell), []).append(one)
    dataset_shards.forget(folder, groups)
    return [dataset_shards.refresh(folder / name, groups[name]) for name in sorted(groups)]


def _concat(name: str, parts: list[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_tables([dataset_tables.empty(name), *parts])


def _in_order(table: Any, planned: Sequence[Planned]) -> Any:
    """Rows in the order of their attempts; rows of one attempt keep theirs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    keys = dataset_tables.array([one.id for one in planned], pa.string())
    return table.take(pc.sort_indices(pc.index_in(table["attempt_id"], value_set=keys)))  # a stable sort


def _attempts(
    planned: Sequence[Planned],
    merged: Mapping[str, Any],
    marks: Mapping[str, Mapping[str, Any]],
    lost: Mapping[str, set[str]],
    prices: Prices | None,
) -> Any:
    """The plan's columns, joined with what was measured; planned attempts without a result are rows of nulls."""
    import pyarrow as pa

    measured = merged["attempts"]
    place = {key: row for row, key in enumerate(measured["attempt_id"].to_pylist())}
    joined = measured.take(dataset_tables.array([place.get(one.id) for one in planned], pa.int64()))
    status = [_status(one.id, place, marks["excluded"], lost) for one in planned]
    over = _planned_columns(planned)
    over["status"] = status
    over |= {name: [marks[name].get(one.id) for one in planned] for name in BY_HAND}
    over["scored"] = [s if state == "done" else (None if s is None else False)
                      for s, state in zip(joined["scored"].to_pylist(), status, strict=True)]  # fmt: skip
    over["cost_usd"], over["cost_source"] = _costs(planned, joined, merged["requests"], prices)
    return _replace(joined, over)


def _status(key: str, place: Mapping[str, int], excluded: Mapping[str, str], lost: Mapping[str, set[str]]) -> str:
    if key in excluded:
        return "excluded"
    if key in place:
        return "done"
    return next((status for status, keys in lost.items() if key in keys), "not_run")


def _planned_columns(planned: Sequence[Planned]) -> dict[str, list[Any]]:
    tags = {id(one.cell): orjson.dumps(one.cell["tags"]).decode() for one in planned}
    columns: dict[str, list[Any]] = {
        name: [one.cell[name] for one in planned]
        for name in ("suite", "task", "harness", "model", "toolset", "adoption", "recipe", "label", "language",
                     "grade", "simulated", "free")
    }  # fmt: skip
    columns["attempt_id"] = [one.id for one in planned]
    columns["repetition"] = [one.repetition for one in planned]
    columns["wall_budget_seconds"] = [float(one.cell["wall_seconds"]) or None for one in planned]
    columns["tags"] = [tags[id(one.cell)] for one in planned]
    return columns


def _costs(
    planned: Sequence[Planned], joined: Any, requests: Any, prices: Prices | None
) -> tuple[list[Any], list[Any]]:
    """Costs said by the CLI or the endpoint, else tokens x price table; a lower bound of tokens gives no cost."""
    cost, source = joined["cost_usd"].to_pylist(), joined["cost_source"].to_pylist()
    if not prices:
        return cost, source
    from fairtrial import pricing

    names = ("input_uncached", "cache_read", "cache_write", "output", "reasoning")
    tokens = {name: joined[f"{name}_tokens"].to_pylist() for name in names}
    bounded = joined["tokens_lower_bound"].to_pylist()
    open_ = [row for row, one in enumerate(planned)
             if cost[row] is None and one.cell["model"] in prices and not bounded[row]]  # fmt: skip
    tiered = any("up_to" in prices[planned[row].cell["model"]] for row in open_)
    sizes = _largest(requests) if tiered else {}
    for row in open_:
        price, size = dict(prices[planned[row].cell["model"]]), sizes.get(planned[row].id)
        said = pricing.cost({name: tokens[name][row] for name in names}, price, size)
        cost[row], source[row] = said, None if said is None else "price_table"
    return cost, source


def _largest(requests: Any) -> dict[str, int]:
    """Attempt -> input tokens of its largest answered request, where every one of them says its own.

    In plain Python: a comparison or a group in pyarrow.compute imports pandas, a quarter of a merge.
    """
    names = ("attempt_id", "status", "input_uncached_tokens", "cache_read_tokens", "cache_write_tokens")
    found: dict[str, int] = {}
    silent = set()
    for key, status, fresh, read, written in zip(*(requests[name].to_pylist() for name in names), strict=True):
        if status is None or status >= 300:
            continue
        if fresh is None:
            silent.add(key)
        else:
            found[key] = max(found.get(key, 0), fresh + (read or 0) + (written or 0))
    return {key: size for key, size in found.items() if key not in silent}


def _replace(table: Any, over: Mapping[str, list[Any]]) -> Any:
    import pyarrow as pa

    wanted = dataset_tables.arrow_schema("attempts", plain=True)
    arrays = [
        pa.chunked_array([dataset_tables.array(over[f.name], f.type)]) if f.name in over else table[f.name]
        for f in wanted
    ]
    return pa.table(arrays, schema=wanted)
