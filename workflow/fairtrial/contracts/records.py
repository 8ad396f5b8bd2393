"""Records on disk: JSON that is written whole or not at all, and its digests."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError


def canonical(record: object) -> bytes:
    """The one spelling of a record: sorted keys, no blanks, UTF-8; what digests are taken of."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode(
        "utf-8", "replace"
    )


def digest(record: object) -> str:
    """sha256 of the canonical spelling, 64 hex digits."""
    return hashlib.sha256(canonical(record)).hexdigest()


def file_digest(path: Path) -> str:
    """sha256 of a file's bytes, 64 hex digits."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def pretty(record: object) -> bytes:
    """A record as people read it: indented, sorted, UTF-8 with a last newline; lone surrogates become U+FFFD."""
    text = json.dumps(record, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode() + b"\n"


def write_bytes(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Write by temporary file and rename, so that a reader sees all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as stream:
        stream.write(content)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())
    temporary.rename(path)
    if durable:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def dump(path: Path, record: object, *, durable: bool = True) -> None:
    """Write one record."""
    write_bytes(path, pretty(record), durable=durable)


def create(path: Path, record: object, *, durable: bool = False) -> bool:
    """Create a record file exclusively; False when it is already there. Safe on shared disks.

    durable: whole on the disk before it has its name, and the name before this returns, whatever the machine does then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    with temporary.open("wb") as stream:
        stream.write(pretty(record))
        if durable:
            stream.flush()
            os.fsync(stream.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        temporary.unlink()
    if durable:
        sync_folder(path.parent)
        sync_folder(path.parent.parent)
    return True


def load(path: Path, schema_name: str | None = None, made_by: str = "") -> dict[str, Any]:
    """Read one record; a torn, foreign or invalid one is a UserError that names the file and the command it is of."""
    again = f"; `{made_by}` makes it anew" if made_by else ""
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path}: no such file{again}") from None
    except ValueError as error:
        raise UserError(f"{path}: not whole JSON ({error}){again}") from None
    if not isinstance(record, dict):
        raise UserError(f"{path}: holds {type(record).__name__}, not an object{again}")
    if schema_name:
        confirm(record, schema_name, str(path))
    return record


def confirm(record: object, schema_name: str, where: str) -> None:
    """`validate` for what fairtrial wrote itself: jsonschema is only imported for a record that may not fit."""
    from fairtrial.contracts.fits import fits

    if not fits(record, schema_name):
        validate(record, schema_name, where)


def validate(record: object, schema_name: str, where: str) -> None:
    """Raise a UserError that lists what is wrong, each line led by `where`."""
    from fairtrial.contracts.schema import problems

    found = problems(record, schema_name)
    if found:
        raise UserError("\n".join(f"{where}: {line}" for line in found))


def pruned_of(folder: Path) -> tuple[frozenset[str], dict[str, Any]]:
    """What `mismatches` excuses, by pruned.json: files that may be gone, name -> {sha256, bytes} of rewritten ones."""
    path = folder / "pruned.json"
    record = load(path) if path.exists() else {}
    return frozenset(record.get("files", ())), dict(record.get("rewritten", {}))


def with_seal(record: dict[str, Any]) -> dict[str, Any]:
    """The record and, as `seal`, the digest of all the rest of it as it will be read back."""
    return {**record, "seal": digest(json.loads(pretty(record)))}


def altered(record: dict[str, Any]) -> bool:
    """Is a sealed record not what it was? One without `seal`, of an older fairtrial, cannot tell."""
    rest = {key: value for key, value in record.items() if key != "seal"}
    return "seal" in record and record["seal"] != digest(rest)


def mismatches(
    folder: Path,
    expected: dict[str, Any],
    pruned: frozenset[str] = frozenset(),
    rewritten: dict[str, Any] | None = None,
) -> list[str]:
    """What in `folder` is not what `expected` (name -> {sha256, bytes}) says; files in `pruned` may be gone.

    `rewritten`: name -> {sha256, bytes} of files that pruning replaced; either content is right.
    """
    wrong = []
    for name, entry in sorted(expected.items()):
        path = folder / name
        if not path.is_file():
            if name not in pruned:
                wrong.append(f"{name} is missing")
            continue
        allowed = [entry, *([rewritten[name]] if rewritten and name in rewritten else [])]
        size, found = path.stat().st_size, file_digest(path)
        if not any(size == one["bytes"] and found == one["sha256"] for one in allowed):
            wrong.append(f"{name} was changed")
    return wrong
