"""Faults: what is retried and when, what stops a pair, and that a fault is whole."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fairtrial.capture import faults
from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import retry
from fairtrial.contracts.protocols import FaultFound
from fairtrial.contracts.records import load, validate
from fairtrial.paths import AttemptId, Results

ID = AttemptId("s", "t", "h", "m", "0" * 12, 1)
LIMITED = FaultFound("rate_limited", "429 Too Many Requests")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("rate limit reached, retry-after: 30", 30),
        ('{"Retry-After": "7"}', 7),
        ("Please try again in 1.5s.", 1.5),
        ("Try again in 2 minutes", 120),
        ("retry in 250ms", 0.25),
        ("quota resets in 3 hours", 10800),
        ("429 Too Many Requests", None),
        ("try again in a while", None),
    ],
)
def test_retry_after_is_read_from_what_programs_say(text: str, seconds: float | None) -> None:
    """Seconds, minutes, hours, with and without a unit."""
    assert retry.retry_after(FaultFound("rate_limited", text), None) == seconds


def test_retry_after_is_found_in_the_stream_too() -> None:
    """The last error that says so counts."""
    events = {"errors": [{"message": "retry after 5"}, {"message": "retry after 9"}, {"message": "gave up"}]}
    assert retry.retry_after(LIMITED, events) == 9


def test_the_header_comes_before_what_programs_make_of_it() -> None:
    """The endpoint saw the provider's own number; without one the messages count."""
    loud = FaultFound("rate_limited", "retry after 5")
    assert retry.retry_after(loud, None, {"retry_after_seconds": 40.0}) == 40
    assert retry.retry_after(loud, None, {"retry_after_seconds": None}) == 5
    assert retry.retry_after(loud, None, {}) == 5


def test_pauses_grow_and_honour_the_provider() -> None:
    """Backoff doubles; a longer retry-after wins; the tries are counted; an hour is the longest."""
    settings = Settings(retries=3, backoff_seconds=10)
    assert [retry.pause(LIMITED, None, n, settings) for n in (1, 2, 3, 4)] == [10, 20, 40, None]
    assert retry.pause(LIMITED, 90, 1, settings) == 90
    assert retry.pause(LIMITED, 7200, 1, settings) is None


@pytest.mark.parametrize("kind", ["quota", "auth", "not_logged_in", "no_events", "sandbox", "disk", "interrupted"])
def test_nothing_else_is_retried(kind) -> None:
    """A missing login does not come back by waiting."""
    assert retry.pause(FaultFound(kind, "x"), 1, 1, Settings(retries=5)) is None


def test_server_errors_are_retried_only_when_configured() -> None:
    """The default is no retry."""
    assert retry.pause(FaultFound("server_error", "503"), None, 1, Settings()) is None
    assert retry.pause(FaultFound("server_error", "503"), None, 1, Settings(retries=1)) == 10


def mark(results: Results, settings: Settings, *kinds: str | None) -> None:
    """End attempts one after another."""
    for kind in kinds:
        fault = None if kind is None else FaultFound(kind, f"said {kind}")  # type: ignore[arg-type]
        faults.mark(results, settings, ID, fault)
        time.sleep(0.001)


def test_three_in_a_row_stop_a_pair_with_its_own_message(tmp_path: Path) -> None:
    """A good end in between starts the count again; interruptions do not count."""
    results, settings = Results(tmp_path), Settings(invocation="i")
    mark(results, settings, "quota", "quota", None, "quota", "interrupted", "quota")
    assert faults.streak(results, settings, ID) is None
    mark(results, settings, "quota")
    assert faults.streak(results, settings, ID) == "quota: said quota"


def test_the_streak_is_of_one_invocation_and_can_be_off(tmp_path: Path) -> None:
    """The next start tries again; stop_after 0 never stops."""
    results = Results(tmp_path)
    mark(results, Settings(invocation="i"), "quota", "quota", "quota")
    assert faults.streak(results, Settings(invocation="j"), ID) is None
    assert faults.streak(results, Settings(invocation="i", stop_after=0), ID) is None
    assert faults.streak(results, Settings(invocation="i", stop_after=4), ID) is None


def test_a_fault_keeps_its_evidence_whole(tmp_path: Path) -> None:
    """One folder with the record and every captured file, valid by its schema."""
    evidence = tmp_path / "scratch" / "evidence"
    evidence.mkdir(parents=True)
    (evidence / "agent-stdout.txt").write_text("said\n")
    failed = faults.Failed(
        LIMITED, "a" * 64, False, "2026-01-01T00:00:00.000Z", evidence=evidence,
        events={"cost_usd": 0.5, "cost_source": "cli"}, retry_after=30.0,
    )  # fmt: skip
    path = faults.keep(Results(tmp_path), ID, failed, Settings())
    record = load(path, "fault")
    validate(record, "fault", "fault")
    assert (record["cost_usd"], record["retry_after_seconds"]) == (0.5, 30.0)
    assert record["files"] == ["agent-stdout.txt"]
    assert (path.parent / "agent-stdout.txt").read_text() == "said\n"
    assert faults.earlier(Results(tmp_path), ID) == 1
