"""Whatever leaves an attempt after its reservation settles it and leaves a fault; waiters at the cap see the dead."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fairtrial.capture import attempt
from fairtrial.capture.spend import invocation, leases, ledger
from fairtrial.contracts.errors import Fault, UserError
from fairtrial.contracts.lean import replaced
from fairtrial.contracts.records import dump
from fairtrial.paths import AttemptId, Results

from tests.paid import SETTINGS, planned


@pytest.fixture
def one(tmp_path: Path, monkeypatch) -> tuple[Results, AttemptId]:
    """A planned attempt of a harness that costs two cents."""
    return planned(tmp_path, monkeypatch, 2)


def faults_of(results: Results) -> list[tuple[str, str]]:
    """Kind and message of every fault."""
    records = [json.loads(path.read_bytes()) for path in results.fault_records()]
    return [(record["kind"], record["message"]) for record in records]


def raising(error: BaseException):
    """A function that raises."""

    def call(*_: object, **__: object) -> None:
        raise error

    return call


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (UserError("template: unknown placeholder {promt}"), "spawn", "unknown placeholder {promt}"),
        (Fault("cli_missing", "it is not there"), "cli_missing", "it is not there"),
        (KeyError("template"), "other", "KeyError: 'template'"),
        (OSError(5, "Input/output error"), "other", "Input/output error"),
    ],
)
def test_what_goes_wrong_before_the_agent_starts_costs_nothing_and_is_a_fault(one, error, kind, words, monkeypatch):
    """Nothing stays reserved, nothing counts against the cap, and the next run goes on."""
    results, attempt_id = one
    with monkeypatch.context() as patch:
        patch.setattr(attempt, "prepare", raising(error))
        assert attempt.run(results, attempt_id, SETTINGS) == 1
    [(found, message)] = faults_of(results)
    assert found == kind
    assert words in message
    sums = ledger.balance(results, "default")
    assert (sums.counted, sums.running, sums.unknown) == (0, 0, 0)
    assert list((results.root / "scratch").glob("*")) == []
    assert attempt.run(results, attempt_id, replaced(SETTINGS, invocation="next")) == 0
    assert ledger.balance(results, "default").known == 0.02


def test_an_interruption_before_the_agent_starts_leaves_nothing_reserved(one, monkeypatch) -> None:
    """It goes on as an interruption; the ledger and the faults know of it at once."""
    results, attempt_id = one
    monkeypatch.setattr(attempt, "prepare", raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        attempt.run(results, attempt_id, SETTINGS)
    assert [kind for kind, _ in faults_of(results)] == ["interrupted"]
    sums = ledger.balance(results, "default")
    assert (sums.counted, sums.running) == (0, 0)


@pytest.mark.parametrize("error", [RuntimeError("a defect"), OSError(5, "Input/output error"), UserError("not so")])
def test_what_goes_wrong_after_the_agent_ended_counts_what_it_cost(one, error, monkeypatch) -> None:
    """Its cents are in the ledger and its stream is in the fault; nothing is thrown away without a record."""
    results, attempt_id = one
    monkeypatch.setattr(attempt, "evidence_record", raising(error))
    assert attempt.run(results, attempt_id, SETTINGS) == 1
    [path] = results.fault_records()
    record = json.loads(path.read_bytes())
    assert (record["kind"], record["cost_usd"]) == ("other", 0.02)
    assert "agent-stdout.txt" in record["files"]
    sums = ledger.balance(results, "default")
    assert (sums.known, sums.running, sums.unknown) == (0.02, 0, 0)


def test_mistakes_in_a_row_stop_the_harness(one, monkeypatch) -> None:
    """They are faults like any other, so `stop_after` and the arm's first attempt hold the rest back."""
    results, attempt_id = one
    monkeypatch.setattr(attempt, "prepare", raising(UserError("not so")))
    settings = replaced(SETTINGS, stop_after=2)
    ids = [replaced(attempt_id, repetition=n) for n in (1, 2, 1)]
    assert [attempt.run(results, each, settings) for each in ids] == [1, 1, 1]
    assert len(faults_of(results)) == 2


def reserve_dead(results: Results, attempt_id: AttemptId) -> None:
    """A reservation of 0.05 whose holder was killed."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    record = {**leases.identity(str(attempt_id), "killed"), "pid": gone.pid}
    ledger.reserve(results, SETTINGS, attempt_id, record["token"], 0.05)
    dump(results.attempt(attempt_id).lease, record)


def test_who_waits_at_the_cap_sees_that_the_holder_is_dead(one) -> None:
    """Its bound is counted and its attempt a fault in the same run; the waiter is told that the cap is full."""
    results, attempt_id = one
    other = replaced(attempt_id, repetition=2)
    reserve_dead(results, other)
    assert attempt.run(results, attempt_id, replaced(SETTINGS, max_usd=0.09)) == 1
    assert [kind for kind, _ in faults_of(results)] == ["interrupted"]
    sums = ledger.balance(results, "default")
    assert (sums.at_bound, sums.running, sums.known) == (0.05, 0, 0)
    [reason] = invocation.all_not_run(results, SETTINGS.invocation)
    assert "the cap is reached: 0.05 USD spent, 0.05 needed" in reason
    assert not results.attempt(other).lease.exists()
