"""What exporters read: the attempts of an experiment or of a selection, with their tables and evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from fairtrial.analysis import dataset_side as side
from fairtrial.analysis import dataset_tables
from fairtrial.contracts.errors import UserError
from fairtrial.paths import Results

Json = dict[str, Any]
LATE = "fault_found_at_grading"  # ending of an attempt whose fault only the grade saw: a result, and yet a fault


@dataclass
class Source:
    """One experiment or selection. `rows` are those of `attempts`, in the table's order."""

    results: Path
    matrix: Json
    dataset: Path
    report: Path | None = None
    scorecard: Path | None = None
    folders: Mapping[str, Path] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)  # name -> value, for the scan

    @cached_property
    def rows(self) -> list[Json]:
        """The attempts table as mappings."""
        path = self.dataset / "attempts.parquet"
        if not path.exists():
            raise UserError(f"{path}: no such file; `fairtrial dataset` makes it")
        return _rows(path)

    @cached_property
    def faults(self) -> dict[str, Json]:
        """The last fault of each attempt that has one."""
        return {row["attempt_id"]: row for row in _rows(self.dataset / "faults.parquet")}

    def folder(self, row: Json) -> Path:
        """The attempt's folder."""
        return self.folders.get(row["attempt_id"]) or self.results / "attempts" / row["attempt_id"]

    def tree(self, row: Json) -> Results:
        """The results tree that the attempt is part of: a selection may be of several."""
        parents = self.folder(row).absolute().parents
        own = parents[6] if len(parents) > 6 else self.results
        return Results(own if (own / "objects").is_dir() else self.results)

    def grade(self, row: Json) -> Path:
        """The folder of the grade that the tables show."""
        return self.folder(row) / "grades" / str(row["grade"])

    def with_result(self) -> Iterator[Json]:
        """Rows with a result that was not left out by hand."""
        yield from (row for row in self.rows if row["status"] == "done")

    def record(self, path: Path) -> Json:
        """A JSON record, {} when it is not there or torn."""
        return side.record(str(path))


def _rows(path: Path) -> list[Json]:
    table = dataset_tables.read(path)
    columns = {name: dataset_tables.plain_list(table[name]) for name in table.column_names}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def arm_name(row: Json) -> str:
    """harness/toolset/adoption/model; generated attempts say so, and are not mixed with measured ones of that name."""
    name = "/".join(row[part] for part in ("harness", "toolset", "adoption", "model"))
    return f"{name} (simulated)" if row["simulated"] else name


def dump(path: Path, record: object) -> None:
    """Indented JSON with a last newline; keys keep their order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record, ensure_ascii=False, indent=2, allow_nan=False)
    path.write_bytes(text.encode("utf-8", "replace") + b"\n")
