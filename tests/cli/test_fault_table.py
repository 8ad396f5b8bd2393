"""The table: four real agent programs x everything that can go wrong at the model, each cell asserted.

Where a program never gives up our wall clock does; the reason stands beside the cell. The retry switches of claude,
codex and mini-swe-agent are at 1, and at 0 where an error stays; opencode has none.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import pytest
from fairtrial.instruments.endpoint.instrument import Endpoint

from tests.cli_rig import PROGRAMS, Seen, rehearse

pytestmark = pytest.mark.cli
LONG, SHORT = 120.0, 15.0  # wall seconds: for cells that end by themselves, and for those our clock has to end
PRICE = {"input": 1.0, "cache_read": 0.1, "cache_write": 1.25, "output": 500.0, "date": "2026-11-01"}
USAGE = {"input_uncached": 1111, "cache_read": 2222, "cache_write": 333, "output": 1000, "reasoning": 5}


@dataclass(frozen=True)
class Column:
    """One way things go wrong."""

    faults: list[dict[str, Any]] = field(default_factory=list)
    budget: dict[str, Any] = field(default_factory=dict)


def status(number: int, count: int | None) -> list[dict[str, Any]]:
    return [{"kind": "status", "status": number, "count": count, "retry_after": 0}]


COLUMNS = {
    "401": Column(status(401, None)),
    "429 then ok": Column(status(429, 1)),
    "429 for ever": Column(status(429, None)),
    "500 for ever": Column(status(500, None)),
    "refused": Column([{"kind": "refused"}]),
    "cut stream": Column([{"kind": "cut"}]),
    "turn cap": Column(budget={"turns": 2}),
    "dollar cap": Column(budget={"usd": 0.05}),
    "SIGKILL": Column([{"kind": "delay", "first": 3, "seconds": 100}]),
}
# program -> column -> (what the attempt becomes, words of the reason, wall seconds)
ENDS_ALIKE = {
    "401": ("fault:auth", "", LONG),
    "429 then ok": ("completed", "", LONG),
    "429 for ever": ("fault:rate_limited", "", LONG),
    "500 for ever": ("fault:server_error", "", LONG),
    "refused": ("fault:endpoint", "", LONG),
    "cut stream": ("completed", "", LONG),
    "turn cap": ("budget", "turn_cap", LONG),
    "dollar cap": ("budget", "usd_cap", LONG),
    "SIGKILL": ("agent_error", "signal 9", LONG),
}
TABLE: dict[str, dict[str, tuple[str, str, float]]] = {
    "claude": ENDS_ALIKE,
    "codex": {
        **ENDS_ALIKE,
        # it waits for a network for ever and tells of each try: request_max_retries and stream_max_retries at 0 change
        # nothing, and of its features and provider keys (0.169.0) no other is about it. With an endpoint in the path a
        # provider that cannot be reached is a 502, which it gives up on.
        "refused": ("fault:endpoint", "", SHORT),
    },
    "opencode": ENDS_ALIKE,  # refused: 70 s of retries, which no switch and none of the variables it reads shortens
    "mini-swe-agent": ENDS_ALIKE,
}
SWITCH = frozenset({"claude", "codex", "mini-swe-agent"})
CELLS = [(harness, column) for harness in PROGRAMS for column in COLUMNS]


@pytest.fixture
def killer(monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGKILL for the program's main process while it waits for its third answer."""
    start = Endpoint.start

    def watched(self: Endpoint, stage: Any, main_pid: int, clock_ns: int) -> None:
        def kill() -> None:
            deadline = time.monotonic() + LONG
            requests = stage.folder / "requests.jsonl"
            while time.monotonic() < deadline:
                if requests.exists() and b'"fault":null' in requests.read_bytes() and _models(requests) >= 3:
                    os.kill(main_pid, signal.SIGKILL)
                    return
                time.sleep(0.05)

        start(self, stage, main_pid, clock_ns)
        threading.Thread(target=kill, daemon=True).start()

    monkeypatch.setattr(Endpoint, "start", watched)


def _models(requests: Any) -> int:
    """Model requests that began so far."""
    import json

    rows = [json.loads(line) for line in requests.read_bytes().split(b"\n")[:-1]]
    return len({row["order"] for row in rows if row["wire"] != "other"})


def run(tmp_path: Any, harness: str, column: str) -> Seen:
    planned = COLUMNS[column]
    options = {"usage": USAGE, "faults": planned.faults}
    budget = {"wall_seconds": TABLE[harness][column][2], **planned.budget}
    switches = {"retries": 0 if "for ever" in column else 1} if harness in SWITCH else {}
    return rehearse(tmp_path, harness, options=options, budget=budget, model={"price": PRICE}, harness_options=switches)


@pytest.mark.parametrize(("harness", "column"), [c for c in CELLS if c[1] != "SIGKILL"])
def test_cell(tmp_path, harness, column):
    """What the attempt becomes, from the stream, the clock and the endpoint, never from the exit code alone."""
    became, words, _ = TABLE[harness][column]
    seen = run(tmp_path, harness, column)
    assert seen.became == became, f"{seen.became}: {seen.reason}"
    assert words in seen.reason
    assert all(row["main_process"] for row in seen.rows)


@pytest.mark.parametrize("harness", PROGRAMS)
def test_sigkill(tmp_path, killer, harness):
    """A killed program keeps a lower bound of its tokens, which the endpoint makes exact for what was answered."""
    became, words, _ = TABLE[harness]["SIGKILL"]
    seen = run(tmp_path, harness, "SIGKILL")
    assert (seen.became, words in seen.reason) == (became, True), f"{seen.became}: {seen.reason}"
    facts = seen.evidence["instruments"]["endpoint"]
    assert facts["requests"] == 3 and facts["answered"] == 2 and facts["tokens_lower_bound"]
    assert facts["tokens"]["output"] == 2 * USAGE["output"] and facts["cost_usd"] is None
    assert [row["ended_ns"] is None for row in seen.rows if row["wire"] != "other"] == [False, False, True]
    assert seen.evidence["process"]["survivors_killed"] >= 0
    assert seen.read(harness)["cost_usd"] is None


def test_every_cell_is_in_the_table():
    """Four programs, nine columns, no gap."""
    assert {(harness, column) for harness, row in TABLE.items() for column in row} == set(CELLS)
