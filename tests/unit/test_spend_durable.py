"""The ledger survives the machine, refuses what it cannot read, and an old unknown cost counts under a later cap."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import ledger, live, progress
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import replaced
from fairtrial.contracts.records import dump
from fairtrial.paths import AttemptId, Results

ID = AttemptId("s", "t", "h", "m", "0" * 12, 1)
UNCAPPED = Settings(name="money")
CAPPED = Settings(name="money", max_usd=0.1)


def unknown(results: Results, repetition: int, bound: float | None) -> None:
    """One start whose cost nobody learnt."""
    attempt_id = replaced(ID, repetition=repetition)
    assert ledger.reserve(results, UNCAPPED, attempt_id, f"u{repetition}", bound) is None
    ledger.settle(results, UNCAPPED, attempt_id, f"u{repetition}", events={}, fault=None)


def test_a_record_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch) -> None:
    """A machine that goes down leaves a whole record or none, and keeps each one an agent was started on."""
    steps: list[str] = []
    sync, link = os.fsync, os.link

    def synced(descriptor: int) -> None:
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        steps.append("content" if name.endswith(".tmp") else "folder")
        sync(descriptor)

    def linked(*paths: object) -> None:
        steps.append("name")
        link(*paths)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "link", linked)
    ledger.reserve(Results(tmp_path), UNCAPPED, ID, "one", 0.02)
    assert steps == ["content", "name", "folder", "folder"]


@pytest.mark.parametrize("content", ["", "{", "null", "[]", '{"a": 1}'])
def test_a_record_that_cannot_be_read_is_named_with_what_to_do(tmp_path: Path, content: str) -> None:
    """No traceback and no guess: what it said was money. Moved away, its start counts as open again."""
    results = Results(tmp_path)
    assert ledger.reserve(results, UNCAPPED, ID, "one", 0.02) is None
    ledger.settle(results, UNCAPPED, ID, "one", events={"cost_usd": 0.01}, fault=None)
    [path] = results.ledger("money").glob("*/*-settle.json")
    path.write_text(content)
    for look in (
        lambda: ledger.balance(results, "money"),
        lambda: ledger.open_attempts(results),
        lambda: ledger.says_paid(results, ID),
    ):
        with pytest.raises(UserError, match=r"-settle\.json: a ledger record that cannot be read.*move it away"):
            look()
    path.unlink()
    assert ledger.open_attempts(results) == {str(ID)}
    assert ledger.balance(results, "money").open == 0.02


def test_a_cost_unknown_and_unbounded_counts_as_the_next_attempt_may(tmp_path: Path) -> None:
    """Runs before the cap asked for no bound: three such starts take three bounds of a later cap, not nothing."""
    results = Results(tmp_path)
    for n in (1, 2, 3):
        unknown(results, n, None)
    sums = ledger.balance(results, "money")
    assert (sums.unknown, sums.unbounded, sums.counted) == (3, 3, 0)
    assert progress.money(sums, None) == "0.00 USD spent, 3 attempts of unknown cost on top"
    said = ledger.reserve(results, CAPPED, replaced(ID, repetition=4), "four", 0.03)
    assert said is not None
    assert "0.09 USD spent, 0.03 needed, spend.max_usd is 0.10" in said
    assert ledger.can_never_fit(results, CAPPED, 0.03)
    assert ledger.reserve(results, CAPPED, replaced(ID, repetition=4), "four", 0.02) is None


def test_a_bounded_unknown_cost_keeps_its_own_bound(tmp_path: Path) -> None:
    """What it may have cost was said when it started."""
    results = Results(tmp_path)
    unknown(results, 1, 0.05)
    sums = ledger.balance(results, "money")
    assert (sums.unbounded, sums.at_bound) == (0, 0.05)
    said = "0.00 USD spent, 1 attempt of unknown cost counted at 0.05, cap 0.10"
    assert progress.money(sums, 0.1) == said


def test_faults_with_a_message_of_their_own_each_do_not_fill_the_screen(tmp_path: Path) -> None:
    """The most frequent are named, the rest is counted with its place."""
    results = Results(tmp_path)
    for n in range(live.SHOWN + 5):
        fault = {"invocation": "i", "harness": "h", "model": "m", "kind": "quota", "message": f"request {n:03}"}
        dump(results.faults(ID) / f"f{n}" / "fault.json", fault)
    lines = live.what_failed(results, "i")
    assert len(lines) == live.SHOWN + 1
    assert lines[-1] == f"5 further kinds of faults: below {tmp_path / 'faults'}"
