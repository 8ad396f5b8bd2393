"""From one result.json to one row of `attempts` and its rows of `checks`; every value is checked on the way.

A value of another type than the column's is a Refused with the key's name: a text in a number never becomes a
column of texts, and the whole record is left out and named rather than half of it believed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Any

from fairtrial.analysis import dataset_tables as tables

Row = dict[str, Any]

_OUTCOMES = frozenset({"green", "red", "timeout", "agent_error", None})
_ENDINGS = frozenset({"completed", "timeout", "budget", "agent_error", "fault_found_at_grading"})
_VERDICTS = frozenset({"passed", "failed", "verifier_error"})
_IDENTITY = ("suite", "task", "harness", "model", "toolset", "adoption", "repetition", "simulated")

# column of `attempts` -> where result.json has it; a name alone is the top level
_PATHS: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in (*_IDENTITY, "started_at", "ended_at", "green_at", "outcome", "scored", "load")},
    **{name: (name,) for name in ("model_configured", "model_observed", "earlier_faults")},
    **{
        name: ("performance", "execution", name)
        for name in (
            "ending", "ending_reason", "exit_status", "signal", "timed_out", "lingered", "terminal_event",
            "malformed_lines", "errors", "warnings", "trace_shim",
        )
    },
    **{
        name: ("performance", "correctness", name)
        for name in (
            "verdict", "check_passed", "suspect", "corrected", "minefields_passed", "minefields_total",
            "protected_ok", "acceptance_untouched", "verifier_seconds",
        )
    },
    "checks_passed": ("performance", "correctness", "passed"),
    "checks_total": ("performance", "correctness", "total"),
    **{name: ("performance", "compliance", name) for name in ("policy_refusals", "foreign_requests")},
    **{
        name: ("performance", "effort", name)
        for name in (
            "vc_reads", "vc_writes", "vc_errors", "tool_calls", "parser_calls", "repeated_reads",
            "selector_failures", "vc_output_bytes", "tool_output_bytes", "skill_reads", "commands",
            "files_changed", "lines_added", "lines_removed", "green_checked", "blind_retries",
            "work_after_green_seconds", "empty_diff_exit_0",
        )
    },
    **{
        name: ("performance", "time_cost", name)
        for name in (
            "agent_seconds", "seconds_to_green", "first_command_seconds", "first_mutation_seconds",
            "vc_summed_seconds", "vc_occupied_seconds", "api_seconds", "turns", "requests", "cost_usd",
            "cost_source", "tokens_lower_bound",
        )
    },
    **{
        f"{name}_tokens": ("performance", "time_cost", "tokens", name)
        for name in ("input_uncached", "cache_read", "cache_write", "output", "reasoning")
    },
    "first_green_lower_seconds": ("performance", "time_cost", "first_green", "lower_seconds"),
    "first_green_upper_seconds": ("performance", "time_cost", "first_green", "upper_seconds"),
    "first_green_certain": ("performance", "time_cost", "first_green", "certain"),
    "went_red_again": ("performance", "time_cost", "first_green", "went_red_again"),
    "first_acceptance_green_seconds": ("performance", "time_cost", "first_acceptance_green", "upper_seconds"),
    "isolation": ("isolation", "backend"),
    "netns": ("isolation", "netns"),
}  # fmt: skip


class Refused(Exception):
    """A record that cannot become a row; the text says why, in words."""


def _integer(value: Any) -> Any:
    if type(value) is int and -(1 << 63) <= value < 1 << 63:
        return value
    if type(value) is float and value.is_integer() and abs(value) <= 1 << 53:
        return int(value)
    raise TypeError("a whole number")


def _number(value: Any) -> Any:
    if type(value) is float or (type(value) is int and -(1 << 63) <= value < 1 << 63):
        return float(value)
    raise TypeError("a number")


def _text(value: Any) -> Any:
    if type(value) is str:
        return value
    raise TypeError("a text")


def _truth(value: Any) -> Any:
    if type(value) is bool:
        return value
    raise TypeError("true or false")


def _moment(value: Any) -> Any:
    if type(value) is str and value.endswith("Z"):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            pass
    raise TypeError("a UTC time such as 2026-01-31T12:00:00.000Z")


_READERS: dict[str, Callable[[Any], Any]] = {
    "int64": _integer, "float64": _number, "string": _text, "dictionary": _text, "bool": _truth,
    "timestamp[us, UTC]": _moment,
}  # fmt: skip


def convert(table: str, name: str, value: Any) -> Any:
    """One value as its column's Python type, None stays None; TypeError names what was wanted."""
    return None if value is None else _READERS[tables.columns(table)[name]](value)


@cache
def _plan() -> list[tuple[tuple[str, ...], list[tuple[str, str, Callable[[Any], Any]]]]]:
    """The paths of _PATHS grouped by the object they stand in, so that each is looked up once."""
    kinds = tables.columns("attempts")
    groups: dict[tuple[str, ...], list[tuple[str, str, Callable[[Any], Any]]]] = {}
    for name, path in _PATHS.items():
        groups.setdefault(path[:-1], []).append((name, path[-1], _READERS[kinds[name]]))
    return list(groups.items())


def _section(result: Any, path: tuple[str, ...]) -> Any:
    found = result
    for depth, key in enumerate(path):
        found = found.get(key)
        if not isinstance(found, dict):
            where = ".".join(path[: depth + 1])
            raise Refused(f"{where} holds {_said(found)}, not an object")
    return found


def _said(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def attempt_row(result: Any) -> Row:
    """What result.json itself says, as columns of `attempts`; plan, price and by-hand columns are not its business.

    Raises Refused for anything but an object of schema_version 1 with every key present and of its type.
    """
    if not isinstance(result, dict):
        raise Refused(f"holds {_said(result)}, not an object")
    if result.get("schema_version") != 1:
        raise Refused(f"schema_version is {_said(result.get('schema_version'))}; this version reads 1")
    row: Row = {}
    for path, fields in _plan():
        section = _section(result, path)
        for name, key, reader in fields:
            try:
                value = section[key]
                row[name] = None if value is None else reader(value)
            except KeyError:
                raise Refused(f"{'.'.join((*path, key))} is missing") from None
            except TypeError as error:
                raise Refused(f"{'.'.join((*path, key))} holds {_said(section[key])}, not {error}") from None
    _lists(result, row)
    _consistent(row)
    row["attempt_id"] = _string(result, "attempt_id")
    row["recipe"] = _string(result, "recipe_sha256")[:12]
    row["grade"] = _string(result, "grade_sha256")[:12]
    return row


def _string(result: Row, key: str) -> str:
    value = result.get(key)
    if not isinstance(value, str):
        raise Refused(f"{key} holds {_said(value)}, not a text")
    return value


def _lists(result: Row, row: Row) -> None:
    violations = _section(result, ("performance", "compliance")).get("violations")
    row["violations"] = len(violations) if isinstance(violations, list) else None
    signals = _section(result, ("performance", "effort")).get("early_stop_signals")
    row["early_stop_signals"] = _json_list("performance.effort.early_stop_signals", signals)
    versions = _section(result, ("versions",))
    version = versions.get("harness_observed")
    row["harness_version"] = version if version is None else _text_or_refuse("versions.harness_observed", version)
    row["degraded"] = _json_list("isolation.degraded", result["isolation"].get("degraded"))
    row["notes"] = _json_list("notes", result.get("notes"))


def _text_or_refuse(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise Refused(f"{where} holds {_said(value)}, not a text")
    return value


def _json_list(where: str, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise Refused(f"{where} holds {_said(value)}, not a list")
    return json.dumps(value, ensure_ascii=False)


def _consistent(row: Row) -> None:
    """The rules that every statistic relies on."""
    for key, allowed in (("outcome", _OUTCOMES), ("ending", _ENDINGS), ("verdict", _VERDICTS)):
        if row[key] not in allowed:
            raise Refused(f"{key} is {_said(row[key])}; known: {', '.join(sorted(map(str, allowed)))}")
    green = row["outcome"] == "green"
    for key in ("green_at", "seconds_to_green"):
        if (row[key] is not None) != green:
            state = "missing in a green" if green else "set in an attempt that is not green; outcome of this"
            raise Refused(f"{key} is {state} attempt ({_said(row['outcome'])})")
    if row["scored"] is None or row["started_at"] is None:
        raise Refused("scored and started_at may not be null")
    if row["scored"] and row["outcome"] is None:
        raise Refused("scored is true but outcome is null")


def check_rows(attempt_id: str, result: Row) -> list[Row]:
    """One row per named check; Refused when the list is not a list of checks."""
    checks = _section(result, ("performance", "correctness")).get("checks")
    if not isinstance(checks, list):
        raise Refused(f"performance.correctness.checks holds {_said(checks)}, not a list")
    rows = []
    for place, check in enumerate(checks):
        if not isinstance(check, dict):
            raise Refused(f"performance.correctness.checks.{place} holds {_said(check)}, not an object")
        row: Row = {"attempt_id": attempt_id}
        for name in ("name", "kind", "passed", "detail"):
            try:
                row[name] = convert("checks", name, check.get(name))
            except TypeError as error:
                raise Refused(f"performance.correctness.checks.{place}.{name} is not {error}") from None
        rows.append(row)
    return rows
