"""Reads trace.jsonl."""

from __future__ import annotations

import json
from pathlib import Path

from fairtrial.contracts.protocols import Json

VERSION = 3


def read(path: Path) -> list[Json] | None:
    """The lines of a trace in their order; lines that are torn or of another version are left out.

    None: there is no trace (nothing was captured, which is not the same as no command).
    """
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    found = []
    for line in raw.split(b"\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and row.get("schema_version") == VERSION and isinstance(row.get("span"), str):
            found.append(row)
    return found


def output(folder: Path, row: Json, stream: str, most: int = 1 << 20) -> bytes | None:
    """The captured bytes of `stream` (stdout or stderr; merged ones stand in stdout), at most `most` of them.

    `folder` is the attempt's. None: not captured. b'': captured and empty.
    """
    name = row.get(f"{stream}_path")
    if not name:
        return b"" if row.get(f"{stream}_bytes") == 0 else None
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            return None
        with path.open("rb") as file:
            kept: bytes = file.read(most)
            return kept
    except OSError:
        return None
