"""Reads mini-swe-agent's trajectory file (recorded with 2.4.6); its standard output is for people only.

The file is rewritten after every step, so it survives SIGKILL; `info.exit_status` is empty until the end.
"""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.wire import ending, failure, get, jsonl, tokens
from fairtrial.wire.record import Record, finish, texts

PARSER = 1
TRAJECTORY = "traj.json"  # the name under which launch.py has it collected
Json = dict[str, Any]

_OWN_ENDS = frozenset({"EOFError", "KeyboardInterrupt", "RetryError", "FormatError", "ContextWindowExceededError"})


def read(streams: Streams) -> Json:
    """Raw bytes to the events record. Never raises."""
    record = Record("mini_swe_agent", PARSER)
    record.lines = sum(1 for _ in jsonl.split(streams.stdout))
    raw = streams.extra.get(TRAJECTORY, b"")
    trajectory = jsonl.parse_object(raw) or {}
    if raw and not trajectory:
        record.warnings.append("the trajectory file is not readable")
    record.fields["cli_version"] = get.text(trajectory, "info", "mini_version")
    usage: list[tokens.Tokens] = []
    for message in get.items(trajectory, "messages"):
        _message(record, message, usage)
    record.fields["tokens"] = tokens.total(usage)
    record.fields["turns"] = len(usage) or None
    # It reports 0 when it knows no price: with tokens used that is not a cost.
    record.cost(get.dollars(trajectory, "info", "model_stats", "instance_cost") or None)
    _end(record, trajectory)
    return record.done(streams.stderr)


def classify(events: Json, report: ProcessReport) -> Ending | FaultFound:
    """The ending, by the shared table."""
    return ending.classify(events, report)


def _message(record: Record, message: Any, usage: list[tokens.Tokens]) -> None:
    role = get.text(message, "role")
    if role == "assistant":
        usage.append(_answer(record, message))
    elif role == "tool":
        _tool_result(record, message)
    elif role in ("system", "user"):
        record.say(role, texts(get.at(message, "content")))
    elif role != "exit":
        record.unknown[f"role/{role}"] += 1


def _answer(record: Record, message: Any) -> tokens.Tokens:
    record.model_event()
    response = get.at(message, "extra", "response")
    record.fields["model_observed"] = get.text(response, "model") or record.fields["model_observed"]
    said = texts(get.at(message, "content"))
    record.say("assistant", said)
    record.fields["final_text"] = said or record.fields["final_text"]
    for call in get.items(message, "tool_calls"):
        raw = get.text(call, "function", "arguments") or ""
        arguments = jsonl.parse_object(raw.encode())
        name = get.text(call, "function", "name") or "unknown"
        record.call(get.text(call, "id"), name, raw if arguments is None else arguments)
    usage = tokens.inclusive(
        get.count(response, "usage", "prompt_tokens"),
        get.count(response, "usage", "prompt_tokens_details", "cached_tokens"),
        get.count(response, "usage", "cache_creation_input_tokens"),
        get.count(response, "usage", "completion_tokens"),
        get.count(response, "usage", "completion_tokens_details", "reasoning_tokens"),
    )
    record.request(usage, get.dollars(message, "extra", "cost") or None)
    return usage


def _tool_result(record: Record, message: Any) -> None:
    key = get.text(message, "tool_call_id")
    output = get.text(message, "extra", "raw_output")
    status = get.number(message, "extra", "returncode")
    # The call that hands the work in is answered with -1 and "action was not executed": neither is a fact.
    skipped = get.text(message, "extra", "exception_info") == "action was not executed"
    code = status if isinstance(status, int) and not skipped else None
    entry = record.calls.get(key or "")
    if entry is None:
        record.result(key, output, is_error=None, exit_status=code)
    else:
        finish(entry, output, is_error=None if code is None else code != 0, exit_status=code)


def _end(record: Record, trajectory: Json) -> None:
    status = get.text(trajectory, "info", "exit_status") or ""
    if not status:
        return
    record.terminal = True
    if status == "Submitted":
        record.fields["stop"] = "completed"
        record.fields["final_text"] = get.text(trajectory, "info", "submission") or record.fields["final_text"]
    elif status == "LimitsExceeded":
        record.fields["stop"] = _which_cap(trajectory)
    else:
        _failed(record, trajectory, status)


def _failed(record: Record, trajectory: Json, status: str) -> None:
    last = get.at(trajectory, "messages", -1)
    text = get.text(last, "extra", "exception_str") or get.text(last, "content") or ""
    trace = get.text(last, "extra", "traceback") or ""
    kind = "model" if status in _OWN_ENDS else failure.kind_of(None, f"{status} {text}")
    if "Connection error" in text or "ConnectError" in trace or "APIConnectionError" in trace:
        kind = "refused"  # reported as InternalServerError
    record.fail(f"{status}: {text}", kind=kind)


def _which_cap(trajectory: Json) -> str:
    calls = get.count(trajectory, "info", "model_stats", "api_calls") or 0
    spent = get.dollars(trajectory, "info", "model_stats", "instance_cost") or 0.0
    steps = get.count(trajectory, "info", "config", "agent", "step_limit")
    if steps is None:
        return "usd_cap" if spent else "turn_cap"
    return "turn_cap" if 0 < steps <= calls else "usd_cap"
