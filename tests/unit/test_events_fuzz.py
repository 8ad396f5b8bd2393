"""No bytes whatsoever make a reader raise or write an invalid record."""

from __future__ import annotations

import importlib
import json
from functools import cache
from pathlib import Path
from typing import Any, get_args

import orjson
import pytest
from fairtrial.contracts.protocols import Ending, EndingName, FaultFound, FaultKind, ProcessReport, Streams
from fairtrial.contracts.schema import problems
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SAMPLES = Path(__file__).parents[1] / "data" / "harness-samples"
FOLDERS = {
    "claude": ("claude", "claude332", "claude-json"), "codex": ("codex",), "opencode": ("opencode",),
    "mini_swe_agent": ("mini",), "pi": ("pi", "pi73"), "gemini": ("gemini",), "qwen": ("qwen",), "aider": ("aider",),
}  # fmt: skip
ADAPTERS = sorted(FOLDERS)
EXTRA = {"mini_swe_agent": "traj.json", "aider": "aider-analytics.jsonl"}
PLACES = ("message", "part", "item", "stats", "usage", "error", "event", "info", "messages", "properties")
LIMITS = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


@cache
def captures(adapter: str) -> tuple[tuple[bytes, bytes, bytes], ...]:
    """(stdout, stderr, trajectory) of every capture, without the largest."""
    found = []
    for name in FOLDERS[adapter]:
        for folder in sorted((SAMPLES / name).iterdir()):
            parts = [folder / f for f in ("stdout", "stderr", "traj.json")]
            bodies = [p.read_bytes() if p.exists() else b"" for p in parts]
            if len(bodies[0]) < 40_000:
                found.append((bodies[0], bodies[1], bodies[2]))
    return tuple(found)


@cache
def words(adapter: str) -> tuple[str, ...]:
    """Every key and short string the program really prints: what a fuzzer needs to get past the first test."""
    seen: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                seen.add(key)
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, str) and len(value) < 40:
            seen.add(value)

    for stdout, _, trajectory in captures(adapter):
        for line in [*stdout.split(b"\n"), trajectory]:
            try:
                walk(json.loads(line))
            except ValueError:
                continue
    return tuple(sorted(seen)) or ("type",)


def reports() -> st.SearchStrategy[ProcessReport]:
    number = st.integers(0, 10)
    return st.builds(
        ProcessReport, number, number, st.none() | st.integers(0, 255), st.none() | st.integers(1, 64), st.booleans(),
        st.booleans(), st.none() | number, number, number, number, number, number, st.booleans(), st.just({}),
        st.sampled_from([None, "turn_cap", "endpoint: gone", "output", ""]),
    )  # fmt: skip


def check(adapter: str, streams: Streams, report: ProcessReport) -> None:
    events = importlib.import_module(f"fairtrial.harnesses.{adapter}.events")
    record = events.read(streams)
    assert problems(record, "events") == []
    assert orjson.loads(orjson.dumps(record)) == record
    ids = [call["id"] for call in record["tool_calls"] if call["id"] is not None]
    assert len(ids) == len(set(ids))
    assert record["model_observed"] != "<synthetic>"
    if not record["coverage"]["terminal_event"]:
        assert record["cost_usd"] is None
    found = events.classify(record, report)
    if isinstance(found, Ending):
        assert found.ending in get_args(EndingName)
        assert record["model_events"] > 0 or found.ending == "budget"
    else:
        assert isinstance(found, FaultFound)
        assert found.kind in get_args(FaultKind)


@pytest.mark.parametrize("adapter", ADAPTERS)
@given(data=st.data())
@LIMITS
def test_arbitrary_bytes(adapter: str, data: st.DataObject) -> None:
    """Arbitrary bytes on every stream give a valid record and a typed ending or fault."""
    stdout, stderr, extra = (data.draw(st.binary(max_size=300)) for _ in range(3))
    times = data.draw(st.lists(st.integers(0, 1 << 50), max_size=5))
    check(adapter, Streams(stdout, stderr, times, {EXTRA.get(adapter, "x"): extra}), data.draw(reports()))


@pytest.mark.parametrize("adapter", ADAPTERS)
@given(data=st.data())
@LIMITS
def test_truncated_and_damaged_captures(adapter: str, data: st.DataObject) -> None:
    """A real capture cut anywhere, with a few bytes overwritten, is read as far as it goes."""
    stdout, stderr, trajectory = data.draw(st.sampled_from(captures(adapter)))
    bodies = [bytearray(stdout), bytearray(trajectory)]
    for body in bodies:
        del body[data.draw(st.integers(0, len(body))) :]
        for _ in range(data.draw(st.integers(0, 3))):
            if body:
                body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    extra = {EXTRA.get(adapter, "x"): bytes(bodies[1])}
    check(adapter, Streams(bytes(bodies[0]), stderr, extra=extra), data.draw(reports()))


@pytest.mark.parametrize("adapter", ADAPTERS)
@given(data=st.data())
@LIMITS
def test_right_words_with_wrong_types(adapter: str, data: st.DataObject) -> None:
    """Lines made of the program's own keys with values of any type: numbers that are text, lists that are null."""
    leaf: st.SearchStrategy[Any] = st.sampled_from(
        [None, True, 0, -1, 7, 1.5, 1e308, float("inf"), 10**30, "", "\udcb2", "\u2028", [], {}]
    ) | st.sampled_from(words(adapter))
    value = st.recursive(
        leaf,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(words(adapter)), inner, max_size=4),
        max_leaves=12,
    )
    kinds = st.sampled_from([w for w in words(adapter) if len(w) < 24] or ["x"])
    line = st.fixed_dictionaries({"type": kinds}, optional=dict.fromkeys(PLACES, value))
    drawn = data.draw(st.lists(line | value, max_size=5))
    body = b"\n".join(json.dumps(entry).encode() for entry in drawn)
    extra = json.dumps(drawn[0]).encode() if drawn and adapter == "mini_swe_agent" else body
    check(adapter, Streams(body, b"", extra={EXTRA.get(adapter, "x"): extra}), data.draw(reports()))


def test_lines_are_split_on_the_newline_byte_only() -> None:
    """U+2028, U+0085, form feed and a lone CR do not end a line; CRLF does, and its CR is dropped."""
    from fairtrial.wire import jsonl

    raw = b'{"a":"\xe2\x80\xa8\xc2\x85"}\r\n\x0c\n{"b":1}\r{"c":2}\n\n[1]\n"x"\n{"d":NaN}'
    lines = jsonl.read(raw, [5, 6, 7, 8, 9, 10, 11])
    assert [(line.number, line.value, line.at_ns) for line in lines.objects] == [
        (1, {"a": "\u2028\x85"}, 5),
        (7, {"d": None}, 11),
    ]
    assert lines.malformed == [3, 5, 6]


def test_deep_nesting_is_a_malformed_line() -> None:
    """A line nested a hundred thousand levels deep is counted, not recursed into."""
    from fairtrial.wire import jsonl

    for raw in (b'{"a":' * 100_000, b'{"a":' + b"[" * 150 + b"]" * 150 + b"}", b"{}" + b"9" * 5000):
        lines = jsonl.read(raw)
        assert lines.malformed == [1]
        assert lines.objects == []
