"""What the missing attempts will probably take: from earlier attempts of the same arm, else from a pilot."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairtrial.contracts.lean import field, lean
from fairtrial.contracts.plain import counted
from fairtrial.paths import Results
from fairtrial.pricing import cost

PILOT_TOKENS = 52_000  # per attempt, from a pilot; used until an arm has a history
PILOT_USD = 0.09
NEWEST = 200  # attempts of one arm that are looked at
Arm = tuple[str, str, str, str]  # harness, toolset, adoption, model


@lean
class History:
    """Earlier attempts of one arm: tokens, US dollars and seconds, each where it is known."""

    attempts: int = 0
    tokens: list[float] = field(default_factory=list)
    usd: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def history(results: Results, arm: Arm, price: Mapping[str, Any] | None) -> History:
    """Read the newest graded attempts of an arm, whatever their task and recipe."""
    harness, toolset, adoption, model = arm
    found = History()
    pattern = f"*/*/{harness}/{model}/*/r*/grades/*/result.json"
    newest: dict[Path, Path] = {}
    for path in sorted((results.root / "attempts").glob(pattern), key=lambda p: p.stat().st_mtime, reverse=True):
        newest.setdefault(path.parents[2], path)
    for path in list(newest.values())[: 2 * NEWEST]:
        record = _read(path)
        if record is None or (record["toolset"], record["adoption"]) != (toolset, adoption):
            continue
        _add(found, record["performance"]["time_cost"], price)
        if found.attempts == NEWEST:
            break
    return found


def _read(path: Path) -> dict[str, Any] | None:
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return record if {"toolset", "adoption", "performance"} <= record.keys() else None


def _add(found: History, said: Mapping[str, Any], price: Mapping[str, Any] | None) -> None:
    found.attempts += 1
    tokens = said["tokens"]
    counts = [tokens[name] for name in ("input_uncached", "cache_read", "cache_write", "output")]
    if any(count is not None for count in counts):
        found.tokens.append(sum(count or 0 for count in counts))
    usd = said["cost_usd"] if said["cost_usd"] is not None else cost(tokens, price)
    if usd is not None:
        found.usd.append(usd)
    if said["agent_seconds"] is not None:
        found.seconds.append(said["agent_seconds"])


def line(found: History, missing: int) -> str:
    """One arm's estimate as text: the mean of its earlier attempts times the missing ones, and the range."""
    parts = [
        _part(found.tokens, missing, PILOT_TOKENS, lambda n: f"{n:,.0f}", "tokens"),
        _part(found.usd, missing, PILOT_USD, lambda n: f"{n:.2f}", "USD"),
        _part(found.seconds, missing, None, duration, "of agent time"),
    ]
    source = f"from {counted(found.attempts, 'earlier attempt')}" if found.attempts else "no earlier attempts"
    return f"{', '.join(parts)} ({source})"


def _part(values: list[float], missing: int, pilot: float | None, show: Any, unit: str) -> str:
    if values:
        low, usual, high = (show(missing * n) for n in (min(values), mean(values), max(values)))
        return f"about {usual} {unit} ({low} to {high})"
    return f"an unknown amount {unit}" if pilot is None else f"about {show(missing * pilot)} {unit} (pilot default)"


def mean(values: list[float]) -> float:
    """Arithmetic mean; the standard library's costs every attempt command 10 ms of imports."""
    return sum(values) / len(values)


def expected_usd(found: History) -> float:
    """US dollars per attempt."""
    return mean(found.usd) if found.usd else PILOT_USD


def expected_tokens(found: History) -> float:
    """Tokens per attempt."""
    return mean(found.tokens) if found.tokens else PILOT_TOKENS


def duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
