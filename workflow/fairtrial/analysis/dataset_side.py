"""Rows of `commands`, `tool_calls`, `requests` and the digest of the change, from an attempt's side files.

A side file that is not there is no problem (the instrument did not run); a torn line is one, and costs that line only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from fairtrial.analysis import dataset_tables as tables
from fairtrial.analysis.dataset_rows import convert

Row = dict[str, Any]
Complaint = tuple[str, str]  # file name within the attempt folder, reason

LINES_KEPT = 512


def load(content: bytes) -> Any:
    """Parsed JSON. Lone surrogates, which the fast parser refuses, go through the standard one; ValueError else."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        if b"\\ud" not in content and b"\\uD" not in content:
            raise
        return json.loads(content, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def slurp(path: str) -> bytes | None:
    """The bytes of a file, None when it is not there."""
    try:
        with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 -- Path.open costs as much as the read
            return stream.readall()
    except (FileNotFoundError, NotADirectoryError):
        return None


def record(path: str) -> Row:
    """A JSON record; {} when it is not there, torn or none."""
    content = slurp(path)
    try:
        found = load(content) if content else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _typed(table: str, row: Row) -> Row:
    for name, value in row.items():
        if value is not None and tables.columns(table)[name] != "json":
            try:
                row[name] = convert(table, name, value)
            except TypeError as error:
                raise ValueError(f"{name} is not {error}") from None
    return row


def _objects(name: str, content: bytes, complaints: list[Complaint]) -> Iterator[tuple[int, Row]]:
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            found = load(line)
        except ValueError:
            complaints.append((name, f"line {number} is not whole JSON; the line is left out"))
            continue
        if isinstance(found, dict):
            yield number, found
        else:
            complaints.append((name, f"line {number} holds no object; the line is left out"))


def _lines(table: str, folder: str, name: str, row_of: Any, complaints: list[Complaint]) -> list[Row]:
    content = slurp(f"{folder}/{name}")
    rows: list[Row] = []
    for number, found in _objects(name, content or b"", complaints):
        try:
            rows.append(_typed(table, row_of(found)))
        except ValueError as error:
            complaints.append((name, f"line {number}: {error}; the line is left out"))
    return rows


def span_seconds(start: Any, end: Any) -> float | None:
    """Nanosecond marks to seconds between them; None when one is unknown."""
    return None if not isinstance(start, int) or not isinstance(end, int) else (end - start) / 1e9


def _seconds(mark: Any) -> float | None:
    return mark / 1e9 if isinstance(mark, int) else None


def command_rows(attempt_id: str, folder: str, grade: str, complaints: list[Complaint]) -> list[Row]:
    """One row per traced command, with the grade's bucket and version-control class where it has them."""
    buckets = _buckets(folder, grade, complaints)

    def row_of(line: Row) -> Row:
        span = str(line.get("span"))
        argv = line.get("argv")
        return {
            "attempt_id": attempt_id, "seq": line.get("seq"), "command": line.get("command"),
            "argv": json.dumps(argv) if argv is not None else None, "cwd": line.get("cwd"),
            "started_seconds": _seconds(line.get("started_ns")),
            "seconds": span_seconds(line.get("started_ns"), line.get("ended_ns")),
            "exit_status": line.get("exit_status"), "signal": line.get("signal"),
            "stdout_bytes": line.get("stdout_bytes"), "stderr_bytes": line.get("stderr_bytes"),
            "bucket": buckets[0].get(span), "vc": buckets[1].get(span), "refused": line.get("refused"),
            "depth": line.get("depth"), "proven": line.get("proven"),
        }  # fmt: skip

    rows = _lines("commands", folder, "trace.jsonl", row_of, complaints)
    return sorted(rows, key=lambda row: (row["seq"] is None, row["seq"] or 0))


def _buckets(folder: str, grade: str, complaints: list[Complaint]) -> tuple[Row, Row]:
    """(span -> bucket, span -> version-control class) as the grade decided them."""
    name = f"grades/{grade}/trace-buckets.json"
    content = slurp(f"{folder}/{name}")
    if content is None:
        return {}, {}
    try:
        commands = load(content)["commands"]
        return {c["span"]: c["bucket"] for c in commands}, {c["span"]: c["vc"] for c in commands}
    except (ValueError, KeyError, TypeError):
        complaints.append((name, "is no record of commands; their buckets are null"))
        return {}, {}


def tool_call_rows(attempt_id: str, folder: str, grade: str, complaints: list[Complaint]) -> list[Row]:
    """One row per tool call of the normalised events."""
    name = f"grades/{grade}/agent-events.json"
    content = slurp(f"{folder}/{name}")
    if content is None:
        return []
    try:
        calls = load(content)["tool_calls"]
        return [_typed("tool_calls", _call_row(attempt_id, call)) for call in calls]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        complaints.append((name, f"is no record of events ({error}); the tool calls are left out"))
        return []


def _call_row(attempt_id: str, call: Row) -> Row:
    row = {key: call.get(key) for key in ("order", "name", "kind", "command", "is_error", "exit_status")}
    return {
        "attempt_id": attempt_id,
        **row,
        "output_bytes": call.get("output_bytes"),
        "started_seconds": _seconds(call.get("started_ns")),
        "seconds": span_seconds(call.get("started_ns"), call.get("ended_ns")),
        "complete": call.get("complete"),
    }


def request_rows(attempt_id: str, folder: str, complaints: list[Complaint]) -> list[Row]:
    """One row per request that the endpoint saw."""
    plain = ("order", "wire", "path", "status", "model_observed", "cost_usd", "request_bytes", "response_bytes",
             "refused", "fault", "main_process", "simulated")  # fmt: skip

    def row_of(line: Row) -> Row:
        tokens = line.get("tokens") if isinstance(line.get("tokens"), dict) else {}
        started = line.get("started_ns")
        row = {"attempt_id": attempt_id, **{key: line.get(key) for key in plain}}
        row |= {f"{key}_tokens": (tokens or {}).get(key) for key in _TOKENS}
        row["started_seconds"] = _seconds(started)
        row["first_byte_seconds"] = span_seconds(started, line.get("first_byte_ns"))
        row["seconds"] = span_seconds(started, line.get("ended_ns"))
        return row

    return _lines("requests", folder, "requests.jsonl", row_of, complaints)


_TOKENS = ("input_uncached", "cache_read", "cache_write", "output", "reasoning")


def change(folder: str) -> Row:
    """patch_sha256 and changed_lines (sorted short hashes of added and removed lines, at most 512) of the change."""
    content = slurp(f"{folder}/workspace.patch")
    return {"patch_sha256": None, "changed_lines": None} if content is None else change_of(content)


def change_of(patch: bytes) -> Row:
    """The same of a patch's bytes."""
    hashes = {hashlib.blake2b(line, digest_size=6).hexdigest() for line in changed_lines(patch)}
    return {
        "patch_sha256": hashlib.sha256(patch).hexdigest(),
        "changed_lines": orjson.dumps(sorted(hashes)[:LINES_KEPT]).decode(),
    }


def changed_lines(patch: bytes) -> Iterator[bytes]:
    """Added and removed lines of a git patch, each with its sign and the file it is in; file headers are not lines."""
    target, body = b"", False
    for line in patch.split(b"\n"):
        if line.startswith(b"diff --git "):
            target, body = line[11:], False
        elif line.startswith((b"@@ ", b"GIT binary patch")):
            body = True
        elif body and line[:1] in (b"+", b"-"):
            yield target + b"\0" + line


def exists(path: Path) -> bool:
    """Whether a marker file is there; an unreadable folder counts as not."""
    try:
        path.lstat()
    except OSError:
        return False
    return True
