"""The tables' Arrow schemas, taken from schemas/tables/*.json, and how they are written: same rows, same bytes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.schema import schema

TABLES = ("attempts", "checks", "commands", "tool_calls", "requests", "faults")
ROW_GROUP = 131_072
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
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
        arrays.append(pa.nulls(rows, field.type) if given is None else array(given, field.type))
    return pa.table(arrays, schema=wanted)


def array(values: Sequence[Any], kind: Any) -> Any:
    """An Arrow array from Python values and None. pyarrow.array() would import pandas, a quarter of a merge."""
    import numpy as np
    import pyarrow as pa

    known = np.fromiter((value is not None for value in values), bool, len(values))
    validity = pa.py_buffer(np.packbits(known, bitorder="little").tobytes())
    if pa.types.is_string(kind):
        # a lone surrogate has no UTF-8; it becomes a question mark rather than the end of the merge
        texts = [b"" if value is None else value.encode("utf-8", "replace") for value in values]
        offsets = np.zeros(len(texts) + 1, np.int32)
        np.cumsum([len(text) for text in texts], out=offsets[1:])
        return pa.Array.from_buffers(
            kind, len(texts), [validity, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(texts))]
        )
    if pa.types.is_timestamp(kind):
        filled = np.array([0 if value is None else round(value.timestamp() * 1e6) for value in values], np.int64)
    else:
        zero: Any = False if pa.types.is_boolean(kind) else 0
        filled = np.array([zero if value is None else value for value in values], kind.to_pandas_dtype())
    data = np.packbits(filled, bitorder="little") if pa.types.is_boolean(kind) else filled
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(data.tobytes())])


def plain_list(column: Any) -> list[Any]:
    """A column as Python values; times become aware datetimes without importing pandas for it."""
    import pyarrow as pa

    if not pa.types.is_timestamp(column.type):
        values: list[Any] = column.to_pylist()
        return values
    marks = column.cast(pa.int64()).to_pylist()
    return [None if mark is None else EPOCH + timedelta(microseconds=mark) for mark in marks]


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
    """One Parquet table that `fairtrial dataset` wrote, or some of its columns; UserError when it is none of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, columns=list(wanted) if wanted else None)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; `fairtrial dataset` makes it") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{path}: is no table ({said}); `fairtrial dataset` makes it anew") from None
    missing = sorted(set(wanted or columns(path.stem)) - set(table.column_names))
    if missing:
        lacks = ", ".join(missing[:3])
        raise UserError(f"{path}: has no column {lacks}; `fairtrial dataset` makes it anew")
    return table


def frame(path: Path, wanted: Sequence[str] | None = None) -> Any:
    """One Parquet table as a pandas frame with Arrow dtypes, so that nullable integers stay integers."""
    import pandas as pd

    return read(path, wanted).to_pandas(types_mapper=pd.ArrowDtype)
