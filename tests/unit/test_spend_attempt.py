"""An attempt that costs money, killed or out of room at the worst moments."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from fairtrial.capture import attempt, faults, seal
from fairtrial.capture.spend import dead, leases, ledger
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import replaced
from fairtrial.contracts.records import dump, load
from fairtrial.paths import AttemptId, Results
from fairtrial.upkeep import redo

from tests.paid import SETTINGS, planned


@pytest.fixture
def one(tmp_path: Path, monkeypatch) -> tuple[Results, AttemptId]:
    """A planned attempt of a harness that costs two cents."""
    return planned(tmp_path, monkeypatch, 1)


def faults_of(results: Results) -> list[dict]:
    """Every fault record."""
    return [json.loads(path.read_bytes()) for path in results.fault_records()]


def full_disk(times: int, monkeypatch) -> list[int]:
    """The seal meets a full disk that often."""
    real, met = seal.write_seal, []

    def write(*arguments: object) -> None:
        if len(met) < times:
            met.append(1)
            raise OSError(errno.ENOSPC, "No space left on device")
        real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(seal, "write_seal", write)
    monkeypatch.setattr(attempt, "ROOM_POLL", 0.01)
    return met


def test_a_finished_attempt_waits_for_room_to_be_sealed(one, monkeypatch) -> None:
    """What was paid is not thrown away because the disk is full for a moment."""
    results, attempt_id = one
    met = full_disk(3, monkeypatch)
    assert attempt.run(results, attempt_id, SETTINGS) == 0
    assert len(met) == 3
    assert results.attempt(attempt_id).evidence.exists()
    assert ledger.balance(results, "default").known == 0.02


def test_without_room_for_long_it_is_a_fault_with_its_evidence(one, monkeypatch) -> None:
    """The cents count, the stream is kept, and the same command runs it again."""
    results, attempt_id = one
    full_disk(1, monkeypatch)
    monkeypatch.setattr(attempt, "ROOM_SECONDS", -1.0)
    assert attempt.run(results, attempt_id, SETTINGS) == 1
    [fault] = faults_of(results)
    assert (fault["kind"], fault["cost_usd"]) == ("disk", 0.02)
    assert "agent-stdout.txt" in fault["files"]
    assert attempt.run(results, attempt_id, replaced(SETTINGS, invocation="next")) == 0
    assert ledger.balance(results, "default").known == 0.04
    assert list((results.root / "scratch").glob("*")) == []


def seal_only(results: Results, attempt_id: AttemptId, monkeypatch) -> None:
    """An attempt that was sealed and killed before it was settled."""

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ledger, "settle", killed)
        with pytest.raises(KeyboardInterrupt):
            attempt.run(results, attempt_id, SETTINGS)
    assert ledger.balance(results, "default").running == 1


def test_redone_before_it_was_settled_it_counts_what_it_cost(one, monkeypatch) -> None:
    """Its cost is read from the sealed stream before the seal is set aside; it was a result and is no fault."""
    results, attempt_id = one
    seal_only(results, attempt_id, monkeypatch)
    assert "it had cost 0.0200 USD" in redo.redo(results, attempt_id, "another look")
    dead.sweep(results, SETTINGS)
    assert attempt.run(results, attempt_id, SETTINGS) == 0
    sums = ledger.balance(results, "default")
    assert (sums.known, sums.running, sums.unknown) == (0.04, 0, 0)
    assert faults_of(results) == []


@pytest.mark.parametrize("damage", ["no-stream", "no-record", "torn"])
def test_a_damaged_seal_that_was_not_settled_counts_at_its_bound(one, monkeypatch, damage: str) -> None:
    """Neither the next start nor redo, which its message names, stumbles over it."""
    results, attempt_id = one
    seal_only(results, attempt_id, monkeypatch)
    folder = results.attempt(attempt_id).folder
    if damage == "no-stream":
        (folder / "agent-stdout.txt").unlink()
    else:
        (folder / "evidence.json").write_text("{}" if damage == "no-record" else '{"att')
    assert dead.sweep(results, SETTINGS) == 1
    sums = ledger.balance(results, "default")
    assert (sums.unknown, sums.at_bound, sums.running) == (1, 0.05, 0)
    assert "set aside" in redo.redo(results, attempt_id, "damaged")
    assert attempt.run(results, attempt_id, SETTINGS) == 0


def test_sealed_and_killed_before_it_was_settled(one, monkeypatch) -> None:
    """The next start reads the cost from the sealed stream."""
    results, attempt_id = one
    seal_only(results, attempt_id, monkeypatch)
    assert dead.sweep(results, SETTINGS) == 1
    sums = ledger.balance(results, "default")
    assert (sums.known, sums.running, sums.unknown) == (0.02, 0, 0)
    assert attempt.run(results, attempt_id, SETTINGS) == 0
    assert faults_of(results) == []


def leave_dead(results: Results, attempt_id: AttemptId) -> dict:
    """What SIGKILL of an attempt leaves behind."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    record = {**leases.identity(str(attempt_id), "killed"), "pid": gone.pid}
    ledger.reserve(results, SETTINGS, attempt_id, record["token"], 0.05)
    dead.note(results, record)
    evidence = results.scratch(record["token"]) / "evidence"
    evidence.mkdir()
    (evidence / "agent-stdout.txt").write_text("half a stre")
    dump(results.attempt(attempt_id).lease, record)
    return record


@pytest.mark.parametrize("swept", [True, False])
def test_a_killed_attempt_becomes_a_fault_of_unknown_cost(one, swept: bool) -> None:
    """Found at the next start or when its lease is taken over: once, at its bound, with what it had said."""
    results, attempt_id = one
    record = leave_dead(results, attempt_id)
    if swept:
        assert dead.sweep(results, SETTINGS) == 1
        assert dead.sweep(results, SETTINGS) == 0
    assert attempt.run(results, attempt_id, SETTINGS) == 0
    [fault] = faults_of(results)
    assert fault["kind"] == "interrupted"
    assert f"process {record['pid']}" in fault["message"]
    assert fault["files"] == ["agent-stdout.txt"]
    assert load(results.attempt(attempt_id).evidence)["earlier_faults"] == 1
    sums = ledger.balance(results, "default")
    assert (sums.known, sums.at_bound, sums.unknown, sums.running) == (0.02, 0.05, 1, 0)
    assert not results.scratch(record["token"]).exists()


@pytest.mark.parametrize("swept", [True, False])
@pytest.mark.parametrize("known", [True, False], ids=["lease there", "lease gone"])
def test_killed_between_reservation_and_staging_it_has_its_fault_too(one, swept: bool, known: bool) -> None:
    """No folder tells of it, only the ledger: one settlement and one fault, whether or not its lease can be read."""
    results, attempt_id = one
    record = leave_dead(results, attempt_id)
    shutil.rmtree(results.scratch(record["token"]))
    if not known:
        results.attempt(attempt_id).lease.unlink()
    if swept or not known:
        assert dead.sweep(results, SETTINGS) == 1
    assert attempt.run(results, attempt_id, SETTINGS) == 0
    [fault] = faults_of(results)
    assert (fault["kind"], fault["files"], fault["cost_usd"]) == ("interrupted", [], None)
    assert (f"process {record['pid']}" in fault["message"]) is known
    assert [s.fault for s in ledger.starts(results.ledger("default")).values()] == ["interrupted", None]
    assert list((results.root / "scratch").glob("*")) == []


@pytest.mark.parametrize("known", [True, False], ids=["lease there", "lease gone"])
@pytest.mark.parametrize("moment", ["settle_dead", "keep", "rename"])
def test_whoever_buries_may_be_killed_too(one, moment: str, known: bool, monkeypatch) -> None:
    """At each step of it; the next start makes one fault of it, under one name, and settles once."""
    results, attempt_id = one
    shutil.rmtree(results.scratch(leave_dead(results, attempt_id)["token"]))
    if not known:
        results.attempt(attempt_id).lease.unlink()
    where = {"settle_dead": (ledger, "settle_dead"), "keep": (faults, "keep"), "rename": (Path, "rename")}[moment]

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(*where, killed)
        dead.sweep(results, SETTINGS)
    assert dead.sweep(results, SETTINGS) == 1
    [fault] = faults_of(results)
    [path] = results.fault_records()
    assert fault["fault_id"] == path.parent.name
    assert [s.fault for s in ledger.starts(results.ledger("default")).values()] == ["interrupted"]


def test_a_living_attempt_is_left_alone(one) -> None:
    """A sweep settles nothing of an attempt whose holder lives."""
    results, attempt_id = one
    record = leave_dead(results, attempt_id)
    dump(results.attempt(attempt_id).lease, leases.identity(str(attempt_id), "lives") | {"token": record["token"]})
    assert dead.sweep(results, SETTINGS) == 0
    assert ledger.balance(results, "default").running == 1


def test_a_lost_folder_is_paid_again_only_after_redo(one) -> None:
    """The ledger remembers; redo with a reason, and the money is named."""
    results, attempt_id = one
    assert attempt.run(results, attempt_id, SETTINGS) == 0
    shutil.rmtree(results.attempt(attempt_id).folder)
    with pytest.raises(UserError, match="the ledger says that it was paid"):
        attempt.run(results, attempt_id, SETTINGS)
    said = redo.redo(results, attempt_id, "deleted by mistake")
    assert "it had cost 0.0200 USD" in said
    assert attempt.run(results, attempt_id, SETTINGS) == 0
    assert ledger.balance(results, "default").known == 0.04
