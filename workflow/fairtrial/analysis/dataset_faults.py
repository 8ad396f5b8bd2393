"""Rows of `faults`, and what people decided by hand: redo and exclude records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairtrial.analysis import dataset_side as side
from fairtrial.analysis import dataset_tables as tables
from fairtrial.analysis.dataset_rows import convert
from fairtrial.analysis.dataset_shards import Planned
from fairtrial.paths import Results, once

Row = dict[str, Any]
BY_HAND = ("excluded", "redone", "redone_cost_usd")  # columns of attempts


def by_hand(roots: Sequence[Path], planned: Sequence[Planned], problems: list[Row]) -> dict[str, dict[str, Any]]:
    """From these results trees: {"excluded": attempt -> reason, "redone": attempt -> reason of the newest redo,
    "redone_cost_usd": attempt -> known costs of all that was set aside}."""
    marks: dict[str, dict[str, Any]] = {name: {} for name in BY_HAND}
    for one in planned:
        content = side.slurp(f"{one.folder}/exclude.json")
        if content is not None:
            # a torn mark still excludes: leaving out by mistake is seen, counting by mistake is not
            marks["excluded"][one.id] = _reason(content, f"attempts/{one.id}/exclude.json", one.id, problems)
    wanted = {one.id for one in planned}
    for path in once(path for root in roots for path in Results(root).redone_records()):
        key = "/".join(path.parts[-8:-2])
        if key in wanted:
            where = "/".join(path.parts[-9:])
            content = path.read_bytes()
            marks["redone"][key] = _reason(content, where, key, problems)
            cost = _cost(content)
            if cost is not None:
                marks["redone_cost_usd"][key] = marks["redone_cost_usd"].get(key, 0.0) + cost
    return marks


def _cost(content: bytes) -> float | None:
    try:
        return float(side.load(content)["cost_usd"])
    except (ValueError, KeyError, TypeError):
        return None


def _reason(content: bytes, where: str, attempt: str, problems: list[Row]) -> str:
    try:
        return str(side.load(content)["reason"])
    except (ValueError, KeyError, TypeError):
        problems.append({"path": where, "attempt_id": attempt, "reason": "is no whole record; its reason is unknown"})
        return "(reason unreadable)"


def faults(
    roots: Sequence[Path],
    planned: Sequence[Planned],
    prices: Mapping[str, Mapping[str, Any]] | None,
    problems: list[Row],
) -> list[Row]:
    """One row per fault of a planned attempt, by attempt and then by end; bad records are named in `problems`."""
    place = {one.id: number for number, one in enumerate(planned)}
    rows = []
    for path in once(path for root in roots for path in Results(root).fault_records()):
        key = "/".join(path.parts[-8:-2])
        if key not in place:
            continue
        try:
            rows.append(_fault_row(side.load(path.read_bytes()), planned[place[key]], prices))
        except (ValueError, KeyError, TypeError, OSError) as error:
            where = "/".join(path.parts[-9:])
            problems.append({"path": where, "attempt_id": key, "reason": f"is no record of a fault ({error})"})
    rows.sort(key=lambda row: (place[row["attempt_id"]], str(row["ended_at"]), row["fault_id"]))
    return rows


def _fault_row(record: Any, one: Planned, prices: Mapping[str, Mapping[str, Any]] | None) -> Row:
    if not isinstance(record, dict):
        raise TypeError(f"it holds {type(record).__name__}, not an object")
    if record["attempt_id"] != one.id or record["recipe_sha256"] != one.cell["recipe_sha256"]:
        raise ValueError("it is of another attempt or recipe")
    row = {name: convert("faults", name, record[name]) for name in tables.columns("faults")}
    price = (prices or {}).get(one.cell["model"])
    if row["cost_usd"] is None and price and record["tokens"]:
        from fairtrial import pricing

        row["cost_usd"] = pricing.cost(record["tokens"], dict(price))
        row["cost_source"] = None if row["cost_usd"] is None else "price_table"
    return row
