"""The cache between result files and the merged tables: one shard per harness x model.

dataset/shards/<harness>+<model>/
    index.json      per attempt: the print of its result.json and seal (size, times, inode) and its problems
    <table>.arrow   the rows of those attempts, plain types

A result.json is final, so a print that has not changed stands for the content it was read from; a shard with one
new attempt reads that attempt and keeps the other rows. The cache never decides a value: deleting it changes no byte.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from fairtrial.analysis import dataset_side as side
from fairtrial.analysis import dataset_tables as tables
from fairtrial.analysis.dataset_rows import Refused, attempt_row, check_rows
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.protocols import DAMAGED

FORMAT = 1
_AGAIN = "delete it and run the same command: a sealed attempt is graded again for nothing"
MEASURED = ("attempts", "checks", "commands", "tool_calls", "requests")
Row = dict[str, Any]


@dataclass(slots=True)
class Planned:
    """One planned attempt: its id, its cell of the matrix and its folder on this disk."""

    id: str
    cell: Row
    repetition: int
    folder: str

    @property
    def result(self) -> str:
        """Where the planned grade's record is expected."""
        return f"{self.folder}/grades/{self.cell['grade']}/result.json"


@dataclass(slots=True)
class Measured:
    """What was read of some attempts: rows by table, and complaints as {path, attempt_id, reason}."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: {name: [] for name in MEASURED})
    problems: dict[str, list[Row]] = field(default_factory=dict)  # by attempt


def fingerprint(planned: Planned) -> str | None:
    """What changes when the record or the seal does; None: there is no record."""
    try:
        record = os.stat(planned.result)  # noqa: PTH116 -- 20,000 of these per merge
    except OSError:
        return None
    try:
        seal = os.stat(f"{planned.folder}/sealed")  # noqa: PTH116
        sealed = f"{seal.st_ino}.{seal.st_mtime_ns}"
    except OSError:
        sealed = "none"
    return f"{record.st_size}.{record.st_mtime_ns}.{record.st_ctime_ns}.{record.st_ino}.{sealed}"


def read(planned: Planned, into: Measured) -> None:
    """Read one attempt: its rows, or a complaint that names the file and leaves it out."""
    complaints: list[side.Complaint] = []
    name = f"grades/{planned.cell['grade']}/result.json"
    try:
        result = _result(planned)
        row = attempt_row(result)
        _belongs(planned, row, result)
        checks = check_rows(planned.id, result)
    except Refused as error:
        complaints.append((name, str(error)))
    else:
        row["raw_verdict"] = _raw_verdict(planned, row)
        row |= side.change(planned.folder)
        into.rows["attempts"].append(row)
        into.rows["checks"] += checks
        unknown = str(result["performance"]["correctness"].get("verifier_error"))
        if unknown.startswith(DAMAGED):  # its side files say nothing that may be believed
            complaints.append((name, unknown))
        else:
            _side_rows(planned, into, complaints)
    if complaints:
        into.problems[planned.id] = [
            {"path": f"attempts/{planned.id}/{file}", "attempt_id": planned.id, "reason": reason}
            for file, reason in complaints
        ]


def _side_rows(planned: Planned, into: Measured, complaints: list[side.Complaint]) -> None:
    grade = str(planned.cell["grade"])
    into.rows["commands"] += side.command_rows(planned.id, planned.folder, grade, complaints)
    into.rows["tool_calls"] += side.tool_call_rows(planned.id, planned.folder, grade, complaints)
    into.rows["requests"] += side.request_rows(planned.id, planned.folder, complaints)


def _result(planned: Planned) -> Any:
    try:
        content = side.slurp(planned.result)
    except OSError as error:
        raise Refused(f"cannot be read ({error.strerror})") from None
    if not content:
        raise Refused(f"is empty; {_AGAIN}" if content is not None else "went away")
    try:
        return side.load(content)
    except ValueError as error:
        raise Refused(f"is not whole JSON ({error}); {_AGAIN}") from None


def _belongs(planned: Planned, row: Row, result: Row) -> None:
    """A record counts only for the attempt, recipe, grade and seal it was made from."""
    cell = planned.cell
    if row["attempt_id"] != planned.id:
        raise Refused(f"is the record of another attempt, {row['attempt_id']!r}")
    for key in ("recipe_sha256", "grade_sha256"):
        if result[key] != cell[key]:
            raise Refused(f"{key} {result[key][:12]}... is not in the matrix, which has {cell[key][:12]}...")
    for key in ("suite", "task", "harness", "model", "toolset", "adoption", "simulated"):
        if row[key] != cell[key]:
            raise Refused(f"{key} is {row[key]!r}, the matrix has {cell[key]!r}")
    sealed = side.slurp(f"{planned.folder}/sealed")
    if sealed is None:
        raise Refused("has no seal beside it: evidence without `sealed` is no result")
    words = sealed.split()
    if not words or words[0].decode("ascii", "replace") != result.get("evidence_sha256"):
        raise Refused("was made from other evidence than the one that is sealed here")


def _raw_verdict(planned: Planned, row: Row) -> str | None:
    """The verdict before a correction: of the newest uncorrected grade beside this one."""
    if not row["corrected"]:
        return str(row["verdict"])
    found: list[tuple[str, str]] = []
    for path in sorted(Path(planned.folder, "grades").glob("*/result.json")):
        try:
            record = orjson.loads(path.read_bytes())
            correctness = record["performance"]["correctness"]
            if not correctness["corrected"]:
                found.append((record["graded_at"], correctness["verdict"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return max(found)[1] if found else None


@dataclass(slots=True)
class Shard:
    """Arrow tables of one harness x model and the problems of its attempts."""

    tables: dict[str, Any]
    problems: list[Row]


def refresh(folder: Path, planned: Sequence[Planned]) -> Shard:
    """The shard for these attempts, reading only those whose record is new or changed since it was written."""
    prints = {p.id: found for p in planned if (found := fingerprint(p)) is not None}
    digest = {p.id: f"{prints[p.id]}.{p.cell['recipe_sha256'][:16]}.{p.cell['grade_sha256'][:16]}" for p in planned
              if p.id in prints}  # fmt: skip
    known = _index(folder)
    old = _load(folder) if known else None
    if old is not None and known == digest:
        return old
    kept = {key for key, value in digest.items() if old is not None and known.get(key) == value}
    fresh = Measured()
    for one in planned:
        if one.id in digest and one.id not in kept:
            read(one, fresh)
    shard = _merged(old, kept, fresh)
    _store(folder, shard, digest)
    return shard


def _merged(old: Shard | None, kept: set[str], fresh: Measured) -> Shard:
    import pyarrow as pa
    import pyarrow.compute as pc

    merged = {name: tables.from_rows(name, fresh.rows[name]) for name in MEASURED}
    problems = [line for lines in fresh.problems.values() for line in lines]
    if old is not None and kept:
        keys = tables.array(sorted(kept), pa.string())
        for name in MEASURED:
            rows = old.tables[name].filter(pc.is_in(old.tables[name]["attempt_id"], value_set=keys))
            merged[name] = pa.concat_tables([rows, merged[name]])
        problems += [line for line in old.problems if line["attempt_id"] in kept]
    return Shard(merged, problems)


def _header() -> Row:
    return {"format": FORMAT, "columns": {name: tables.columns(name) for name in MEASURED}}


def _index(folder: Path) -> dict[str, str]:
    """Prints by attempt, {} when there is no shard or another version wrote it."""
    try:
        found = orjson.loads((folder / "index.json").read_bytes())
        return dict(found["attempts"]) if found["header"] == _header() else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _load(folder: Path) -> Shard | None:
    import pyarrow as pa

    try:
        read_in = {}
        for name in MEASURED:
            with pa.OSFile(str(folder / f"{name}.arrow"), "rb") as stream:
                read_in[name] = pa.ipc.open_file(stream).read_all()
        return Shard(read_in, orjson.loads((folder / "problems.json").read_bytes()))
    except (OSError, ValueError, pa.ArrowException):
        return None


def _store(folder: Path, shard: Shard, prints: dict[str, str]) -> None:
    """Write beside and swap in; a reader killed in between finds no index and reads the records again."""
    import pyarrow as pa

    fresh = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    for name in MEASURED:
        with (
            pa.OSFile(str(fresh / f"{name}.arrow"), "wb") as stream,
            pa.ipc.new_file(stream, shard.tables[name].schema, options=options) as writer,
        ):
            writer.write_table(shard.tables[name])
    (fresh / "problems.json").write_bytes(orjson.dumps(shard.problems))
    (fresh / "index.json").write_bytes(orjson.dumps({"header": _header(), "attempts": prints}))
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def forget(folder: Path, names: Iterable[str]) -> None:
    """Remove shards of arms that are no longer planned."""
    keep = set(names)
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.name not in keep:
            shutil.rmtree(entry, ignore_errors=True)


def name_of(cell: Row) -> str:
    """The shard's folder name."""
    for key in ("harness", "model"):
        if "/" in cell[key] or cell[key].startswith("."):
            raise UserError(f"matrix: {key} {cell[key]!r} is no slug")
    return f"{cell['harness']}+{cell['model']}"
