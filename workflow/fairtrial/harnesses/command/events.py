"""Reads what the options declare: Claude Code's result object, a last line of JSON, or nothing."""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire import claude_result, ending, jsonl, quiet
from fairtrial.wire.record import Record

PARSER = 1
Json = dict[str, Any]
_OUTPUT = "output "  # how the declared format is kept in the record, for classify


def read(streams: Streams) -> Json:
    """`total_cost_usd` and `num_turns` of a JSON object; anything else leaves them null."""
    declared = streams.options.get("output", "last-line-json")
    if declared == "none":
        return quiet.read("command", PARSER, streams)
    lines = jsonl.read(streams.stdout, streams.times_ns)
    last = lines.objects[-1].value if lines.objects else _whole(streams.stdout)
    if declared == "claude-json":
        return _claude(last, lines, streams)
    record = Record("command", PARSER)
    record.opened(lines)
    record.terminal = last is not None
    made = {**record.done(), "tokens_lower_bound": False}
    if last is not None:
        made["turns"] = _count(last.get("num_turns"))
        made["cost_usd"] = _number(last.get("total_cost_usd"))
        made["cost_source"] = None if made["cost_usd"] is None else "cli"
    return made


def _claude(last: Json | None, lines: jsonl.Lines, streams: Streams) -> Json:
    record = Record("command", PARSER)
    record.opened(lines)
    if last is not None and last.get("type") == "result":
        known = claude_result.read_result(last)
        record.errors = known.pop("errors")
        record.fields.update(known)
        record.terminal = True
    made = record.done(streams.stderr)
    return {**made, "warnings": [*made["warnings"], f"{_OUTPUT}claude-json"]}


def _whole(data: bytes) -> Json | None:
    """Standard output as one JSON object over several lines."""
    return jsonl.parse_object(data) if data.strip() else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def classify(events: Json, report: ProcessReport) -> Ending | FaultFound:
    """The shared table where Claude Code's format is declared; else the clock and the exit status."""
    if f"{_OUTPUT}claude-json" in events["warnings"]:
        return ending.classify(events, report)
    return quiet.classify(report)
