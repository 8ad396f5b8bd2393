"""ATIF v1.8: one trajectory.json per attempt, from the normalised events.

Exit code, times, cache writes, reasoning tokens and the verdict have no place of their own there and stand in `extra`.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from fairtrial.analysis.export._source import Source, dump
from fairtrial.contracts import clock

HELP = "write one ATIF v1.8 trajectory.json per attempt"
VERSION = "ATIF-v1.8"
Json = dict[str, Any]


def export(source: Source, out: Path) -> list[Path]:
    """<out>/<attempt>/trajectory.json for every attempt with a result and a transcript."""
    written = []
    for row in source.with_result():
        events = source.record(source.grade(row) / "agent-events.json")
        if events:
            path = out / row["attempt_id"] / "trajectory.json"
            dump(path, trajectory(row, events, _prompt(source, row)))
            written.append(path)
    return written


def _prompt(source: Source, row: Json) -> str | None:
    seal = source.record(source.folder(row) / "evidence.json")
    digest = seal.get("recipe", {}).get("prompt_sha256")
    path = source.tree(row).blob(digest) if digest else None
    return path.read_bytes().decode("utf-8", "replace") if path and path.exists() else None


def trajectory(row: Json, events: Json, prompt: str | None) -> Json:
    """The record. `row`: of `attempts`; `events`: agent-events.json; `prompt`: the text submitted, None unknown."""
    told = prompt is None or _echoed(events, prompt)
    first = [] if told else [{"source": "user", "timestamp": _at(row, 0), "message": prompt}]
    steps = [*first, *_steps(row, events)] or [{"source": "user", "message": "(the prompt is not here)"}]
    return {
        "schema_version": VERSION,
        "session_id": events.get("session_id") or row["attempt_id"],
        "trajectory_id": row["attempt_id"],
        "agent": _known({
            "name": row["harness"], "version": row["harness_version"] or "unknown",
            "model_name": row["model_observed"] or row["model_configured"],
        }),
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "final_metrics": _known({
            "total_prompt_tokens": _prompt_tokens(row), "total_completion_tokens": row["output_tokens"],
            "total_cached_tokens": row["cache_read_tokens"], "total_cost_usd": row["cost_usd"],
            "total_steps": len(steps),
        }),
        "extra": _extra(row),
    }  # fmt: skip


def _echoed(events: Json, prompt: str) -> bool:
    """Whether the transcript itself begins with the prompt, as some programs print it."""
    asked = [message["text"] for message in events.get("messages", []) if message["role"] == "user"]
    return bool(asked) and asked[0].strip() == prompt.strip()


def _extra(row: Json) -> Json:
    names = ("outcome", "verdict", "check_passed", "ending", "ending_reason", "exit_status", "signal", "agent_seconds",
             "seconds_to_green", "cache_write_tokens", "reasoning_tokens", "turns", "cost_source", "simulated",
             "toolset", "adoption", "task", "suite", "repetition")  # fmt: skip
    return {"fairtrial": _known({name: row[name] for name in names})}


def _known(record: Json) -> Json:
    return {key: value for key, value in record.items() if value is not None}


def _prompt_tokens(row: Json) -> int | None:
    """With cached ones, as ATIF counts."""
    if row["input_uncached_tokens"] is None:
        return None
    return int(row["input_uncached_tokens"] + (row["cache_read_tokens"] or 0) + (row["cache_write_tokens"] or 0))


def _at(row: Json, mark: Any) -> str | None:
    if row["started_at"] is None or not isinstance(mark, int):
        return None
    return clock.stamp(row["started_at"] + timedelta(microseconds=mark // 1000))


def _steps(row: Json, events: Json) -> list[Json]:
    entries = [(m["order"], _message(row, m)) for m in events.get("messages", [])]
    entries += [(c["order"], _call(row, c)) for c in events.get("tool_calls", [])]
    return [step for _, step in sorted(entries, key=lambda entry: entry[0])]


def _message(row: Json, message: Json) -> Json:
    role = {"assistant": "agent", "user": "user", "system": "system"}[message["role"]]
    return _known({"source": role, "timestamp": _at(row, message.get("at_ns")), "message": message["text"]})


def _call(row: Json, call: Json) -> Json:
    """One agent step with one call and, where a result was seen, its observation."""
    key = call.get("id") or f"call-{call['order']}"
    arguments = call.get("arguments")
    arguments = arguments if isinstance(arguments, dict) else {"value": arguments}
    if call.get("command") is not None:
        arguments = {"command": call["command"], **arguments}
    step: Json = {
        "source": "agent", "timestamp": _at(row, call.get("started_ns")), "message": "",
        "tool_calls": [{"tool_call_id": key, "function_name": call["name"], "arguments": arguments}],
    }  # fmt: skip
    if call.get("complete"):
        extra = {name: call.get(name) for name in ("exit_status", "is_error", "output_bytes", "started_ns", "ended_ns")}
        step["observation"] = {"results": [_known({"source_call_id": key, "content": call.get("output_head"),
                                                   "extra": _known(extra) or None})]}  # fmt: skip
    return _known(step)
