"""Files that a crash or a hand left half: leases, records of dead attempts, faults. None of them stops a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import dead, leases, live, progress
from fairtrial.paths import Results

NAME = "s/t/h/m/0123456789ab/r1"


def written(**changes: object) -> bytes:
    """A lease of this process, changed."""
    return json.dumps({**leases.identity(NAME, "i"), **changes}).encode()


HALF = {
    "torn": written()[:40],
    "empty": b"",
    "null": b"null",
    "no keys": b"{}",
    "only a host": json.dumps({"host": leases.identity(NAME, "i")["host"]}).encode(),
    "a text for a process": written(pid="seven"),
    "a text for a time": written(heartbeat_seconds="often"),
    "a token that is a path": written(token="../../other"),
    "no name": written(attempt_id=None),
}


@pytest.mark.parametrize("case", HALF)
def test_half_a_lease_is_nobodys(tmp_path: Path, case: str) -> None:
    """It is taken over at once, and the next holder's is whole; no folder outside of scratch/ is looked at."""
    results = Results(tmp_path / "results")
    lease = results.attempt(NAME).lease
    lease.parent.mkdir(parents=True)
    lease.write_bytes(HALF[case])
    assert leases.holder(lease) is None
    buried: list[dict] = []
    record = leases.identity(NAME, "i")
    assert leases.take(lease, record, buried.append) is None
    assert buried == [{}]
    assert leases.held(lease) == record


@pytest.mark.parametrize("case", HALF)
def test_half_a_record_below_scratch_stops_neither_a_start_nor_its_status(tmp_path: Path, case: str) -> None:
    """The sweep at a start and `fairtrial status` pass it over, and delete nothing for it."""
    results = Results(tmp_path / "results")
    (results.root / "other").mkdir(parents=True)
    folder = results.scratch("abc")
    folder.mkdir(parents=True)
    (folder / "lease.json").write_bytes(HALF[case])
    assert dead.sweep(results, Settings()) == 0
    assert progress.running(results) == {}
    assert (results.root / "other").is_dir()


def test_half_a_fault_does_not_hide_the_others_at_the_end(tmp_path: Path) -> None:
    """What a run says at its end counts the faults that can be read."""
    results = Results(tmp_path / "results")
    said = {"invocation": "i", "harness": "h", "model": "m", "kind": "auth", "message": "no key"}
    for name, content in {"a": b'{"inv', "b": json.dumps(said).encode(), "c": b"null"}.items():
        path = results.faults(NAME) / name / "fault.json"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    assert live.what_failed(results, "i") == ["1 fault of h x m: auth: no key"]
