"""Every recorded output of a real agent program, read and classified."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from fairtrial.contracts import records
from fairtrial.contracts.protocols import Ending, FaultFound, ProcessReport, Streams
from fairtrial.harnesses.aider.events import LOG
from fairtrial.instruments.endpoint.instrument import Endpoint
from fairtrial.instruments.endpoint.merge import merged

DATA = Path(__file__).parents[1] / "data"
SAMPLES = DATA / "harness-samples"
EXPECTED: dict[str, Any] = json.loads((SAMPLES / "expected.json").read_text())
ADAPTERS = {
    "claude": "claude", "claude332": "claude", "claude-json": "claude", "codex": "codex", "opencode": "opencode",
    "mini": "mini_swe_agent", "pi": "pi", "pi73": "pi", "gemini": "gemini", "qwen": "qwen", "aider": "aider",
}  # fmt: skip
NAMES = sorted(set(ADAPTERS.values()))
AIDER = "aider/l_usage"


def module(adapter: str) -> Any:
    return importlib.import_module(f"fairtrial.harnesses.{adapter}.events")


def content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def streams(folder: Path) -> Streams:
    extra = {name: content(folder / name) for name in ("traj.json", LOG) if (folder / name).exists()}
    return Streams(content(folder / "stdout"), content(folder / "stderr"), extra=extra)


def report(folder: Path, **changes: Any) -> ProcessReport:
    """The process as the driver saw it; where the driver ended it, that was our clock."""
    status = int((folder / "exit").read_text())
    facts: dict[str, Any] = {
        "started_ns": 0, "ended_ns": 1, "exit_status": status if status >= 0 else None,
        "signal": None if status >= 0 else -status, "timed_out": (folder / "note.json").exists(), "lingered": False,
        "final_event_ns": None, "stdout_bytes": 0, "stderr_bytes": 0, "stdout_kept_bytes": 0, "stderr_kept_bytes": 0,
        "survivors_killed": 0, "interrupted": False, "isolation": {},
    }  # fmt: skip
    return ProcessReport(**{**facts, **changes})


def becomes(found: Ending | FaultFound) -> str:
    return found.ending if isinstance(found, Ending) else f"fault:{found.kind}"


def read(sample: str) -> tuple[Any, dict[str, Any]]:
    events = module(ADAPTERS[sample.split("/", maxsplit=1)[0]])
    return events, events.read(streams(SAMPLES / sample))


def test_every_sample_folder_has_an_expectation() -> None:
    """The table and the folders are the same set: 179 captures of eight programs."""
    folders = {f"{f.parent.name}/{f.name}" for name in ADAPTERS for f in (SAMPLES / name).iterdir()}
    assert folders == set(EXPECTED)
    assert len(folders) == 179


@pytest.mark.parametrize("sample", sorted(EXPECTED))
def test_sample(sample: str) -> None:
    """A capture gives the expected ending or fault, tokens, cost, turns and tool calls, as a valid record."""
    events, record = read(sample)
    records.validate(record, "events", sample)
    calls = [[c["name"], c["exit_status"], c["is_error"]] for c in record["tool_calls"]]
    want = EXPECTED[sample]
    got = {
        "becomes": becomes(events.classify(record, report(SAMPLES / sample))),
        "tokens": list(record["tokens"].values()),
        "lower_bound": record["tokens_lower_bound"],
        "cost_usd": record["cost_usd"],
        "turns": record["turns"],
        "tool_calls": len(calls) if isinstance(want["tool_calls"], int) else calls,
    }
    assert got == want
    assert record["coverage"]["unknown_events"] == {}
    assert record["model_observed"] != "<synthetic>"


@pytest.mark.parametrize("sample", sorted(s for s in EXPECTED if s.split("/")[1].startswith("l_usage") and s != AIDER))
def test_usage_totals_are_exact(sample: str) -> None:
    """4 calls of 1111 uncached + 2222 cached [+ 333 written] + 44 output, 5 of them reasoning where it is said."""
    _, record = read(sample)
    name = sample.split("/", maxsplit=1)[0]
    tokens = record["tokens"]
    assert tokens["input_uncached"] == 4 * 1111
    assert tokens["cache_read"] == 4 * 2222
    assert tokens["output"] == 4 * 44
    assert tokens["cache_write"] in ({4 * 333} if name.startswith("claude") else {0, None})
    assert tokens["reasoning"] == (
        4 * 5 if name in ("codex", "opencode", "mini") else 0 if name == "claude332" else None
    )
    assert record["tokens_lower_bound"] is False


KILLED = sorted(s for s in EXPECTED if s.split("/")[1].startswith(("i_sig", "i2_sig", "i3_sig")))


def test_usage_of_aider_is_exact_with_the_endpoint() -> None:
    """It counts two of three answers, not the commit message, and cached input as input; the endpoint has all."""
    _, record = read(AIDER)
    assert list(record["tokens"].values()) == [2 * (1111 + 2222), None, None, 2 * 44, None]
    assert record["tokens_lower_bound"]
    rows = [json.loads(line) for line in content(SAMPLES / AIDER / "requests.jsonl").splitlines()]
    endpoint = Endpoint(0)
    endpoint._rows = rows
    whole = merged(record, endpoint.facts())
    assert [whole["tokens"][name] for name in ("input_uncached", "cache_read", "output")] == [3333, 6666, 132]
    assert whole["tokens"]["reasoning"] == 15 and not whole["tokens_lower_bound"]


@pytest.mark.parametrize("sample", KILLED)
def test_killed_by_our_clock_is_a_timeout(sample: str) -> None:
    """The same bytes are a timeout when it was our clock, whatever the program made of the signal."""
    events, record = read(sample)
    found = events.classify(record, report(SAMPLES / sample, timed_out=True))
    assert becomes(found) == "timeout"
    if not record["coverage"]["terminal_event"]:
        assert record["cost_usd"] is None
        assert record["tokens_lower_bound"] is True


@pytest.mark.parametrize("sample", sorted(s for s, row in EXPECTED.items() if row["becomes"].startswith("fault:")))
@pytest.mark.parametrize("status", [0, 1])
def test_the_exit_code_alone_decides_no_fault(sample: str, status: int) -> None:
    """A fault stays the same fault with exit status 0 and 1."""
    events, record = read(sample)
    found = events.classify(record, report(SAMPLES / sample, exit_status=status, signal=None))
    assert becomes(found) == EXPECTED[sample]["becomes"]


def golden(adapter: str) -> dict[str, str]:
    """Digest of the normalised record and the classification of every capture of one adapter."""
    made = {}
    for sample in sorted(EXPECTED):
        if ADAPTERS[sample.split("/")[0]] == adapter:
            events, record = read(sample)
            found = events.classify(record, report(SAMPLES / sample))
            text = json.dumps([record, str(found)], sort_keys=True, ensure_ascii=False)
            made[sample] = hashlib.sha256(text.encode()).hexdigest()
    return made


@pytest.mark.parametrize("adapter", NAMES)
def test_parser_number_stands_for_its_output(adapter: str) -> None:
    """A reader that reads differently needs a higher PARSER and the golden file of that number."""
    number = module(adapter).PARSER
    file = DATA / "golden" / f"parser-{adapter}-{number}.json"
    made = golden(adapter)
    if os.environ.get("FAIRTRIAL_WRITE_GOLDEN") and not file.exists():  # the file of a number is written once
        file.write_text(json.dumps(made, indent=1) + "\n")
    assert file.exists(), "raise PARSER, then write the new file: FAIRTRIAL_WRITE_GOLDEN=1 pytest"
    assert made == json.loads(file.read_text())


@pytest.mark.parametrize("adapter", NAMES)
def test_recorded_capture(adapter: str) -> None:
    """The capture kept beside each adapter is read as its expected.json says, in full."""
    events = module(adapter)
    folder = Path(events.__file__).parent / "recorded"
    record = events.read(streams(folder))
    want = json.loads((folder / "expected.json").read_text())
    assert record == want["events"]
    assert becomes(events.classify(record, report(folder))) == want["becomes"]
