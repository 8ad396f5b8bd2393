"""The table from what happened to an ending or a fault, row by row, and the reading of error texts."""

from __future__ import annotations

from typing import Any

import pytest
from fairtrial.contracts.protocols import Ending, ProcessReport
from fairtrial.wire import ending, failure
from fairtrial.wire.record import Record


def record(**changes: Any) -> dict[str, Any]:
    """A record of an attempt that went well, with what differs."""
    made = Record("claude", 1)
    made.terminal = changes.pop("terminal", True)
    made.errors = changes.pop("errors", [])
    made.fields.update({"stop": "completed", "model_events": 3, **changes})
    return made.done()


def report(**changes: Any) -> ProcessReport:
    facts: dict[str, Any] = {
        "started_ns": 0, "ended_ns": 1, "exit_status": 0, "signal": None, "timed_out": False, "lingered": False,
        "final_event_ns": None, "stdout_bytes": 0, "stderr_bytes": 0, "stdout_kept_bytes": 0, "stderr_kept_bytes": 0,
        "survivors_killed": 0, "interrupted": False, "isolation": {},
    }  # fmt: skip
    return ProcessReport(**{**facts, **changes})


def error(kind: str, *, fatal: bool = True, message: str = "words") -> dict[str, Any]:
    return failure.error(message, kind=kind, fatal=fatal)


LIMITED: dict[str, Any] = {"stop": "error", "errors": [error("rate_limited")]}
CUT: dict[str, Any] = {"terminal": False, "stop": "none"}
SILENT: dict[str, Any] = {**CUT, "model_events": 0}
RETRYING: dict[str, Any] = {**SILENT, "errors": [error("refused", fatal=False)]}
ROWS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("done", {}, {}, "completed"),
    ("done, then it lingered", {}, {"lingered": True, "exit_status": None, "signal": 15}, "completed"),
    ("done, then our clock", {}, {"timed_out": True, "exit_status": None, "signal": 9}, "completed"),
    ("done, after recovered errors", {"errors": [error("rate_limited", fatal=False)]}, {}, "completed"),
    ("done, then exit status 7", {}, {"exit_status": 7}, "agent_error"),
    ("done, then a crash", {}, {"exit_status": None, "signal": 11}, "agent_error"),
    ("no terminal event, status 0", CUT, {}, "agent_error"),
    ("no terminal event, status 143", CUT, {"exit_status": 143}, "agent_error"),
    ("no terminal event, our clock", CUT, {"timed_out": True, "exit_status": None, "signal": 9}, "timeout"),
    ("its own turn cap", {"stop": "turn_cap"}, {"exit_status": 1}, "budget"),
    ("its own dollar cap without an end", {**CUT, "stop": "usd_cap"}, {"exit_status": 53}, "budget"),
    ("our cap, though it calls itself done", {}, {"stopped_by": "usd_cap"}, "budget"),
    ("our cap before the first answer", SILENT, {"stopped_by": "token_cap"}, "budget"),
    ("an instrument that failed", CUT, {"stopped_by": "endpoint: closed"}, "fault:endpoint"),
    ("stopped from outside", CUT, {"interrupted": True}, "fault:interrupted"),
    ("ends in 429, status 0", LIMITED, {}, "fault:rate_limited"),
    ("ends in 429, status 1", LIMITED, {"exit_status": 1}, "fault:rate_limited"),
    ("ends in 401", {"stop": "error", "errors": [error("auth")]}, {}, "fault:auth"),
    ("asks for a login", {**SILENT, "errors": [error("auth", message="Please run /login")]}, {}, "fault:not_logged_in"),
    ("no credit left", {"stop": "error", "errors": [error("quota")]}, {}, "fault:quota"),
    ("ends in 500", {"stop": "error", "errors": [error("server_error")]}, {}, "fault:server_error"),
    ("refused, no terminal event", {**CUT, "errors": [error("refused")]}, {"exit_status": 1}, "fault:endpoint"),
    ("retries until our clock, after work", {**CUT, "errors": [error("refused")]}, {"timed_out": True}, "timeout"),
    ("retries until our clock, without work", RETRYING, {"timed_out": True}, "fault:endpoint"),
    ("never answered", SILENT, {}, "fault:no_events"),
    ("done without an answer", {"model_events": 0}, {}, "fault:no_events"),
    ("unknown model", {**SILENT, "errors": [error("model")]}, {}, "fault:no_events"),
    ("an unknown failure after work", {"stop": "error", "errors": [error("other")]}, {}, "fault:other"),
    ("context overflow", {"stop": "error", "errors": [error("model")]}, {"exit_status": 1}, "agent_error"),
    ("context overflow, our clock", {"stop": "error", "errors": [error("model")]}, {"timed_out": True}, "timeout"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "events", "process", "want"), ROWS, ids=[row[0] for row in ROWS])
def test_row(what: str, events: dict[str, Any], process: dict[str, Any], want: str) -> None:
    """Each thing that can happen becomes what the table says, with a reason in words."""
    found = ending.classify(record(**events), report(**process))
    got = found.ending if isinstance(found, Ending) else f"fault:{found.kind}"
    assert got == want
    assert found.reason if isinstance(found, Ending) else found.message


def test_table_is_total() -> None:
    """The last row holds for every record, so there is always an answer."""
    holds, _ = ending.TABLE[-1]
    assert holds(ending.facts(record(), report()))


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (401, "", "auth"), (403, "model not allowed", "auth"), (429, "", "rate_limited"), (402, "", "quota"),
        (429, "You exceeded your current quota", "quota"), (400, "Your credit balance is too low", "quota"),
        (500, "", "server_error"), (529, "overloaded", "server_error"), (404, "model: x", "model"),
        (400, "prompt is too long: 300000 tokens", "model"), (None, "ECONNREFUSED", "refused"),
        (None, "unexpected status 401 Unauthorized", "auth"), (None, "429 Too Many Requests", "rate_limited"),
        (None, "ProviderModelNotFoundError: x", "model"), (None, "upstream failure", "other"), (None, "", "other"),
    ],
)  # fmt: skip
def test_failure_kinds(status: int | None, message: str, kind: str) -> None:
    """A status and the providers' words give one kind of failure."""
    assert failure.kind_of(status, message) == kind


@pytest.mark.parametrize("cap", ["turn", "token", "usd"])
def test_the_meters_own_refusal_is_a_cap(cap: str) -> None:
    """An error whose text is the endpoint's refusal is that cap, whatever the program makes of it."""
    made = Record("pi", 1)
    made.fail(f"400 fairtrial: {cap}_cap reached", status=400)
    assert made.fields["stop"] == f"{cap}_cap"
    assert made.errors == []


def test_lifecycle_updates_never_multiply_calls() -> None:
    """Started, updated, restated: one id is one tool call; a result without its call is kept and said."""
    made = Record("codex", 1)
    for _ in range(3):
        made.call("a", "bash", {"command": "ls"}, started_ns=5)
    made.result("a", "x", is_error=False, exit_status=0, at_ns=9)
    made.result("b", "y", is_error=None)
    calls = made.done()["tool_calls"]
    assert [(c["id"], c["complete"], c["command"]) for c in calls] == [("a", True, "ls"), ("b", True, None)]
    assert (calls[0]["started_ns"], calls[0]["ended_ns"], calls[0]["output_bytes"]) == (5, 9, 1)
    assert made.warnings == ["a result without its tool call: b"]
