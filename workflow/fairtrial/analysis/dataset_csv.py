"""time-to-green.csv, fourteen columns for a spreadsheet, and its datapackage.json.

UTF-8, LF, UTC with milliseconds; an empty cell means null. A planned attempt that has not run is a row with empty
measurements. green <=> green_at and seconds_to_green are both set, and green_at - started_at is seconds_to_green.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.analysis import dataset_tables
from fairtrial.contracts import clock, records

if TYPE_CHECKING:
    from fairtrial.analysis.dataset_shards import Planned

Row = Mapping[str, Any]

FIELDS: dict[str, tuple[str, str]] = {
    "task_id": ("string", "label of the task, such as T01, else its id"),
    "task": ("string", "title of the task"),
    "green_command": ("string", "the visible command that must succeed"),
    "harness": ("string", "agent program under test, by its name in harnesses.yaml"),
    "harness_version": ("string", "as observed"),
    "model": ("string", "as observed, else as configured, else the slug"),
    "started_at": ("datetime", "UTC with milliseconds"),
    "green_at": ("datetime", "started_at + seconds_to_green"),
    "seconds_to_green": ("number", "agent wall seconds of a green attempt"),
    "turns": ("integer", "turns of the model"),
    "tool_calls": ("integer", "tool calls of the agent"),
    "cost_usd": ("number", "US dollars"),
    "outcome": ("string", "green, red, timeout or agent_error; '+green' when the verifier passed all the same, "
                          "'+unknown' when it could not tell; empty: not run, a fault, excluded or unscored"),
    "notes": ("string", "begins agent_elapsed_s=...; green_exit=...; api_ms=... for an attempt that ran"),
}  # fmt: skip

_RUNS = re.compile(r"^[\s\u200b\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]")
_QUOTED = re.compile(r'[",\r\n\u2028\u2029\x0b\x0c\x85]')
_EXIT = re.compile(r"^(?:exit )?status (-?\d+)")  # how the judge words the check `acceptance`


def defuse(text: str) -> str:
    """A text that a spreadsheet would run as a formula, with one leading apostrophe; others as they are."""
    return f"'{text}" if _RUNS.match(text) else text


def number(value: float | None, places: int = 6) -> str:
    """A plain decimal without exponent or trailing zeros; '' for null."""
    if value is None:
        return ""
    text = f"{value:.{places}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def csv_line(cells: Sequence[str]) -> str:
    """One line, ended by LF; a cell with a comma, a quote or any line break is quoted.

    csv.writer leaves a lone carriage return bare when lines end in LF, and a reader then sees two rows.
    """
    return ",".join('"' + c.replace('"', '""') + '"' if _QUOTED.search(c) else c for c in cells) + "\n"


def outcome_cell(row: Row) -> str:
    """The outcome, and for attempts cut short what the verifier found."""
    outcome = row.get("outcome")
    if outcome is None or row.get("status", "done") != "done":
        return ""
    if outcome not in ("timeout", "agent_error"):
        return str(outcome)
    passed = row.get("check_passed")
    return f"{outcome}+unknown" if passed is None else f"{outcome}+green" if passed else str(outcome)


def csv_row(row: Row) -> list[str]:
    """The fourteen cells of one attempt, formulas defused.

    `row`: columns of `attempts` (times as aware datetimes) with title, check (the green command), green_exit (its
    exit status as text, '' unknown) and fault (message or None) beside them.
    """
    ran = row.get("status", "done") == "done"
    told: Row = row if ran else {}
    started, seconds = told.get("started_at"), told.get("seconds_to_green")
    green = outcome_cell(row) == "green" and started is not None and seconds is not None
    green_at = started + timedelta(seconds=round(seconds, 3)) if green and started and seconds is not None else None
    model = row.get("model_observed") or row.get("model_configured") or row.get("model") or ""
    texts = [row.get("label") or row["task"], row.get("title") or row["task"], row.get("check") or "", row["harness"],
             told.get("harness_version") or "", model]  # fmt: skip
    return [
        *(defuse(str(text)) for text in texts),
        _time(started),
        _time(green_at),
        number(seconds, 3) if green else "",
        *("" if told.get(name) is None else str(told[name]) for name in ("turns", "tool_calls")),
        number(told.get("cost_usd")),
        outcome_cell(row),
        defuse(notes_cell(row)),
    ]


def _time(moment: datetime | None) -> str:
    return "" if moment is None else clock.stamp(moment)


def notes_cell(row: Row) -> str:
    """key=value pairs on one line; the first three are always there for an attempt that ran."""
    status = row.get("status", "done")
    said = {"excluded": row.get("excluded"), "fault": row.get("fault")}.get(status)
    pairs = _ran(row) if status == "done" else [f"{status}={said}" if said else str(status)]
    if row.get("simulated"):
        pairs.append("simulated=true")
    if row.get("redone"):
        pairs.append(f"redone={row['redone']}")
    return " ".join("; ".join([*pairs, *_listed(row.get("notes"))]).split())


def _listed(text: str | None) -> list[str]:
    return [] if text is None or text == "[]" else [str(item) for item in json.loads(text)]


def _ran(row: Row) -> list[str]:
    api = row.get("api_seconds")
    pairs = [
        f"agent_elapsed_s={number(row.get('agent_seconds'), 3)}",
        f"green_exit={row.get('green_exit') or ''}",
        f"api_ms={'' if api is None else round(api * 1000)}",
    ]
    if not row.get("scored"):
        pairs.append(f"unscored={row.get('verdict') or row.get('ending')}")
    pairs += [f"{name}=true" for name in ("suspect", "corrected") if row.get(name)]
    if row.get("isolation") and _listed(row.get("degraded")):
        pairs.append(f"isolation={row['isolation']} degraded")
    return pairs


def green_exit(passed: bool | None, detail: str | None) -> str:
    """The green command's exit status from the check `acceptance`: 0 when passed, else what its detail says, or ''."""
    if passed:
        return "0"
    found = _EXIT.match(detail or "")
    return found.group(1) if found else ""


_WANTED = (
    "label", "task", "harness", "harness_version", "model", "model_observed", "model_configured", "started_at",
    "seconds_to_green", "turns", "tool_calls", "cost_usd", "outcome", "status", "check_passed", "agent_seconds",
    "api_seconds", "scored", "verdict", "ending", "simulated", "suspect", "corrected", "redone", "excluded",
    "isolation", "degraded", "notes",
)  # fmt: skip


def write(out: Path, planned: Sequence[Planned], attempts: Any, checks: Any, faults: Sequence[Row]) -> None:
    """time-to-green.csv and datapackage.json for the `attempts` table (plain Arrow), rows in its order."""
    columns = (checks[name].to_pylist() for name in ("name", "attempt_id", "passed", "detail"))
    accepted = (row for row in zip(*columns, strict=True) if row[0] == "acceptance")
    exits = {attempt: green_exit(passed, detail) for _, attempt, passed, detail in accepted}
    messages = {fault["attempt_id"]: f"{fault['kind']}: {fault['message']}" for fault in faults}
    lines = [csv_line(list(FIELDS))]
    wanted = {name: dataset_tables.plain_list(attempts[name]) for name in _WANTED}
    for place, one in enumerate(planned):
        row = {name: values[place] for name, values in wanted.items()}
        row |= {"title": one.cell["title"], "check": one.cell["check"]}
        row |= {"green_exit": exits.get(one.id, ""), "fault": messages.get(one.id)}
        lines.append(csv_line(csv_row(row)))
    content = "".join(lines).encode("utf-8", "replace")
    records.write_bytes(out / "time-to-green.csv", content, durable=False)
    records.dump(out / "datapackage.json", datapackage(content), durable=False)


def datapackage(content: bytes) -> dict[str, Any]:
    """The Data Package descriptor of time-to-green.csv."""
    fields = [{"name": name, "type": kind, "description": said} for name, (kind, said) in FIELDS.items()]
    resource = {
        "name": "time-to-green", "path": "time-to-green.csv", "profile": "tabular-data-resource", "format": "csv",
        "mediatype": "text/csv", "encoding": "utf-8", "bytes": len(content),
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "dialect": {"delimiter": ",", "lineTerminator": "\n", "quoteChar": '"', "doubleQuote": True, "header": True},
        "schema": {"fields": fields, "missingValues": [""]},
    }  # fmt: skip
    return {"profile": "tabular-data-package", "name": "time-to-green", "resources": [resource]}
