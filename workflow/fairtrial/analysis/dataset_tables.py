"""The tables' Arrow schemas, taken from schemas/tables/*.json, and how they are written: same rows, same bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from fairtrial.contracts.schema import schema

TABLES = ("attempts", "checks", "commands", "tool_calls", "requests", "faults")
ROW_GROUP = 131_072
_UNITS = ("seconds", "bytes", "usd", "tokens")


@cache
def columns(table: str) -> dict[str, str]:
    """Column name to its x-arrow word: string, dictionary, json, bool, int64, float64, timestamp[us, UTC]."""
    return {name: spec["x-arrow"] for name, spec in schema(f"tables/{table}")["properties"].items()}


@cache
def arrow_schema(table: str, *, plain: bool = False) -> Any:
    """The fixed pyarrow schema of one table; plain: dictionary columns as strings, for shards."""
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "json": pa.string(),
        "dictionary": pa.string() if plain else pa.dictionary(pa.int32(), pa.string()),
        "bool": pa.bool_(),
        "int64": pa.int64(),
        "float64": pa.float64(),
        "timestamp[us, UTC]": pa.timestamp("us", tz="UTC"),
    }
    fields = []
    for name, spec in schema(f"tables/{table}")["properties"].items():
        metadata = {"volatile": str(spec["x-volatile"]).lower()}
        unit = name.rsplit("_", 1)[-1]
        metadata |= {"unit": unit} if unit in _UNITS else {}
        metadata |= {"description": spec["description"]} if spec["description"] else {}
        metadata |= {"content": "json"} if spec["x-arrow"] == "json" else {}
        fields.append(pa.field(name, types[spec["x-arrow"]], metadata=metadata))
    return pa.schema(fields, metadata={"fairtrial_table": table, "fairtrial_schema_version": "1"})


def from_columns(table: str, values: Mapping[str, Sequence[Any]]) -> Any:
    """A plain Arrow table from column lists; a column that is not given is all null."""
    import pyarrow as pa

    wanted = arrow_schema(table, plain=True)
    rows = len(next(iter(values.values()), ()))
    arrays = []
    for field in wanted:
        given = values.get(field.name)
        arrays.append(pa.nulls(rows, field.type) if given is None else pa.array(given, field.type))
    return pa.table(arrays, schema=wanted)


def from_rows(table: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    """A plain Arrow table from row mappings; a missing key is null."""
    return from_columns(table, {name: [row.get(name) for row in rows] for name in columns(table)})


def empty(table: str) -> Any:
    """A plain table without rows."""
    return from_columns(table, {})


def write(table: str, plain: Any, path: Path) -> None:
    """Write Parquet (zstd, row groups of 131,072) by temporary file and rename.

    Dictionaries are built here, in row order, so that equal rows give equal bytes whatever they were merged from.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    final = arrow_schema(table)
    arrays = []
    for field in final:
        column = plain.column(field.name).combine_chunks()
        column = column if not isinstance(column, pa.ChunkedArray) else pa.concat_arrays(column.chunks)
        arrays.append(pc.dictionary_encode(column) if pa.types.is_dictionary(field.type) else column)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    pq.write_table(pa.table(arrays, schema=final), temporary, compression="zstd", row_group_size=ROW_GROUP)
    temporary.rename(path)


def read(path: Path, wanted: Sequence[str] | None = None) -> Any:
    """One Parquet table, or some of its columns."""
    import pyarrow.parquet as pq

    return pq.read_table(path, columns=list(wanted) if wanted else None)


def frame(path: Path, wanted: Sequence[str] | None = None) -> Any:
    """One Parquet table as a pandas frame with Arrow dtypes, so that nullable integers stay integers."""
    import pandas as pd

    return read(path, wanted).to_pandas(types_mapper=pd.ArrowDtype)
