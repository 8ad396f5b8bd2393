"""Known traps of transcripts (cases O01-O08 and O10-O12): each has a right answer and tempting wrong ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from fairtrial.contracts import records
from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.harnesses.claude import events as claude
from fairtrial.harnesses.codex import events as codex
from fairtrial.harnesses.opencode import events as opencode
from fairtrial.pricing import cost
from fairtrial.wire import claude_result, tokens

CASES = Path(__file__).parents[1] / "data" / "harness-samples" / "cases"


def case(name: str) -> tuple[dict[str, Any], Path]:
    folder = CASES / name
    return json.loads((folder / "expected.json").read_text()), folder


def report(status: int | None = 0, **changes: Any) -> ProcessReport:
    facts: dict[str, Any] = {
        "started_ns": 0, "ended_ns": 1, "exit_status": status, "signal": None, "timed_out": False, "lingered": False,
        "final_event_ns": None, "stdout_bytes": 0, "stderr_bytes": 0, "stdout_kept_bytes": 0, "stderr_kept_bytes": 0,
        "survivors_killed": 0, "interrupted": False, "isolation": {},
    }  # fmt: skip
    return ProcessReport(**{**facts, **changes})


@pytest.mark.parametrize("status", [0, 1])
def test_o01_a_limit_that_calls_itself_success_is_a_fault(status: int) -> None:
    """A 429 with subtype success is rate_limited for both exit codes; its spend is kept, its model is a real one."""
    expected, folder = case("O01")
    record = claude.read(Streams((folder / "stream.jsonl").read_bytes(), b""))
    found = claude.classify(record, report(status))
    assert isinstance(found, FaultFound)
    assert found.kind == expected["reason"]
    assert record["cost_usd"] == expected["cost_usd"]
    assert record["cost_source"] == "cli"
    assert record["turns"] == expected["turns_reported"]
    assert record["model_observed"] == expected["model_reported"]


@pytest.mark.parametrize(
    ("how", "ending"),
    [
        ({"status": 143}, "agent_error"),
        ({"status": 0}, "agent_error"),
        ({"status": None, "signal": 9, "timed_out": True}, "timeout"),
    ],
)
def test_o02_a_stream_without_its_end_is_never_completed(how: dict[str, Any], ending: str) -> None:
    """No result event: by itself agent_error, by our clock timeout; tokens a lower bound, the cost unknown, not 0."""
    expected, folder = case("O02")
    record = claude.read(Streams((folder / "stream.jsonl").read_bytes(), b""))
    found = claude.classify(record, report(**how))
    assert isinstance(found, Ending)
    assert found.ending == ending
    assert record["cost_usd"] is None
    assert record["tokens_lower_bound"] is True
    assert {k: v for k, v in record["tokens"].items() if k != "reasoning"} == expected["tokens_lower_bound"]
    assert [c["command"] for c in record["tool_calls"]] == expected["commands_recorded"]


def test_o03_usage_counts_once_per_message() -> None:
    """Tokens and cost are those of the result; two tool calls, though one message is written three times."""
    expected, folder = case("O03")
    record = claude.read(Streams((folder / "stream.jsonl").read_bytes(), b""))
    assert {k: record["tokens"][k] for k in expected["tokens"]} == expected["tokens"]
    assert record["cost_usd"] == expected["cost_usd"]
    assert len(record["tool_calls"]) == expected["tool_calls"]
    assert [r["tokens"]["cache_read"] for r in record["requests"]] == [15000, 23600]


def test_o04_a_resumed_thread_restates_its_total() -> None:
    """Cached tokens lie inside input, reasoning inside output, and the last total stands for the whole thread."""
    expected, folder = case("O04")
    one, two = ((folder / f).read_bytes() for f in ("process1.jsonl", "process2_resume.jsonl"))
    table = json.loads((folder / "prices.json").read_text())["per_million_usd"]
    price = {"input": table["input"], "cache_read": table["cached_input"], "output": table["output"]}
    first, second, both = (codex.read(Streams(raw, b""))["tokens"] for raw in (one, two, one + two))
    for got, name in ((first, "process1"), (both, "both"), (second, "both")):
        assert {k: got[k] for k in expected[name]["tokens"]} == expected[name]["tokens"]
        assert cost(got, price) == expected[name]["cost_usd"]
    alone = tokens.minus(second, first)
    assert {k: alone[k] for k in expected["process2_alone"]["tokens"]} == expected["process2_alone"]["tokens"]


def test_o05_recovered_errors_are_warnings() -> None:
    """Reconnect notices before a completed turn leave it completed, with three warnings."""
    expected, folder = case("O05")
    record = codex.read(Streams((folder / "stream.jsonl").read_bytes(), b""))
    found = codex.classify(record, report(0))
    assert isinstance(found, Ending)
    assert found.ending == "completed"
    assert len(record["warnings"]) == expected["warnings"]
    assert record["final_text"] == expected["final_text"]
    assert {k: record["tokens"][k] for k in expected["tokens"]} == expected["tokens"]


def test_o06_a_failed_turn_with_exit_status_0_is_a_fault() -> None:
    """turn.failed after real work and with status 0 gets no verdict, and its cost is unknown, not 0."""
    _, folder = case("O06")
    record = codex.read(Streams((folder / "stream.jsonl").read_bytes(), b""))
    assert isinstance(codex.classify(record, report(0)), FaultFound)
    assert record["model_events"] == 1
    assert record["cost_usd"] is None


@pytest.mark.parametrize(
    ("stdout", "stderr", "kind"),
    [
        ("a_api_error.jsonl", None, "rate_limited"),
        ("b_unknown_error.jsonl", None, "server_error"),
        ("c_empty_stdout.jsonl", "c_stderr.txt", "no_events"),
    ],
)
def test_o07_a_clean_looking_empty_run_is_a_fault(stdout: str, stderr: str | None, kind: str) -> None:
    """Session errors and an empty stdout with status 0 are faults, and say why in the program's own words."""
    _, folder = case("O07")
    error = (folder / stderr).read_bytes() if stderr else b""
    record = opencode.read(Streams((folder / stdout).read_bytes(), error))
    found = opencode.classify(record, report(0))
    assert isinstance(found, FaultFound)
    assert found.kind == kind
    assert "test text" in found.message


def test_o08_cost_and_usage_are_per_step() -> None:
    """Steps add up, output includes reasoning, exit codes are the commands' own, and no model is claimed."""
    expected, folder = case("O08")
    record = opencode.read(Streams((folder / "stream.jsonl").read_bytes(), b""))
    found = opencode.classify(record, report(0))
    assert isinstance(found, Ending)
    assert found.ending == "completed"
    assert record["turns"] == expected["steps"]
    assert record["cost_usd"] == expected["cost_usd"]
    want = {k: v for k, v in expected["tokens"].items() if k != "output_visible"}
    assert record["tokens"] == want
    assert [{"command": c["command"], "exit": c["exit_status"]} for c in record["tool_calls"]] == expected["commands"]
    assert record["model_observed"] is None


def stream(*records: dict[str, Any]) -> Streams:
    """Lines as the program prints them."""
    return Streams("".join(json.dumps(r) + "\n" for r in records).encode(), b"e" * (2 << 20))


USAGE = {"input_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 4}
SAID = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, "result": "ok", "session_id": "s"}


def test_o10_lingering_after_the_result_is_completed_and_keeps_its_cost() -> None:
    """A program that had to be ended after its result is completed, says that it lingered, and its cost is known."""
    record = claude.read(
        stream({"type": "system", "subtype": "init"}, {**SAID, "total_cost_usd": 0.02, "usage": USAGE})
    )
    found = claude.classify(record, report(None, signal=15, lingered=True))
    assert isinstance(found, Ending)
    assert (found.ending, found.reason, record["cost_usd"]) == ("completed", "lingered", 0.02)


def test_o11_an_endless_tool_result_is_cut_and_counted() -> None:
    """8 MiB of one command's output: four events, its head kept, all its bytes counted, the cost of the result."""
    size = 8 << 20
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "cat big.log"}}
    answer = {"type": "tool_result", "tool_use_id": "t", "is_error": False, "content": "y" * size}
    record = claude.read(
        stream(
            {"type": "system", "subtype": "init"},
            {"type": "assistant", "message": {"id": "m", "model": "large", "content": [call], "usage": USAGE}},
            {"type": "user", "message": {"role": "user", "content": [answer]}},
            {**SAID, "total_cost_usd": 0.03, "usage": USAGE},
        )
    )
    found = claude.classify(record, report(0))
    assert isinstance(found, Ending)
    assert (found.ending, record["cost_usd"], record["coverage"]["lines"]) == ("completed", 0.03, 4)
    [seen] = record["tool_calls"]
    assert (seen["command"], seen["output_bytes"], seen["complete"]) == ("cat big.log", size, True)
    assert 0 < len(seen["output_head"]) < size


def test_o12_bad_bytes_lose_their_line_only() -> None:
    """Torn and non-JSON lines are skipped and numbered; a lone surrogate becomes U+FFFD; every writer can go on."""
    expected, folder = case("O12")
    record = claude.read(Streams((folder / "stream.bin").read_bytes(), (folder / "stderr.bin").read_bytes()))
    found = claude.classify(record, report(0))
    assert isinstance(found, Ending)
    assert found.ending == "completed"
    assert record["coverage"]["malformed_lines"] == expected["lines_skipped"]
    assert record["coverage"]["lines"] - len(expected["lines_skipped"]) == expected["events_parsed"]
    assert record["cost_usd"] == expected["cost_usd"]
    assert record["final_text"] == "ok \ufffd"
    assert record["tool_calls"][0]["output_head"].startswith("lone \ufffd nul \0 ansi \x1b[31mred")
    records.validate(record, "events", "O12")
    assert orjson.loads(orjson.dumps(record)) == record


def test_claude_json_result_alone() -> None:
    """The result object by itself gives cost, turns, tokens and stop, for every program that prints one."""
    _, folder = case("O03")
    last = (folder / "stream.jsonl").read_bytes().splitlines()[-1]
    said = claude_result.read_result(json.loads(last))
    assert (said["stop"], said["turns"], said["cost_usd"], said["cost_source"]) == ("completed", 3, 0.0937, "cli")
    assert said["tokens"]["cache_read"] == 38600
    assert claude_result.read_result({})["stop"] == "completed"
