"""Leases: held once, taken over from the dead only, on one host and on others."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import invocation, leases, preflight, slots
from fairtrial.contracts.records import dump, load, validate
from fairtrial.paths import AttemptId, Results


def dead_pid() -> int:
    """The id of a process that is gone."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    return gone.pid


def elsewhere(path: Path, age: float, **more: object) -> dict:
    """A lease held on another host, with its last heartbeat `age` seconds ago."""
    record = {**leases.identity("a", "i"), "host": "another-node", **more}
    dump(path, record)
    then = time.time() - age
    os.utime(path, (then, then))
    return record


def test_a_lease_is_held_once_and_keeps_to_its_schema(tmp_path: Path) -> None:
    """The second taker gets the holder's record."""
    path = tmp_path / "x.json"
    first = leases.identity("a", "i")
    assert leases.take(path, first, lambda dead: None) is None
    validate(load(path), "lease", "lease")
    other = leases.take(path, leases.identity("a", "i"), lambda dead: None)
    assert other is not None
    assert (other["token"], other["pid"]) == (first["token"], os.getpid())


def test_a_dead_holder_on_this_host_is_replaced_at_once(tmp_path: Path) -> None:
    """By process id and start time: a reused id is another process."""
    for change in ({"pid": dead_pid()}, {"pid_started": "1"}, {"boot_id": "an earlier boot"}):
        path = tmp_path / "x.json"
        path.unlink(missing_ok=True)
        dump(path, {**leases.identity("a", "i"), **change})
        buried: list[str] = []
        mine = leases.identity("a", "j")
        assert leases.take(path, mine, lambda dead, b=buried: b.append(dead["token"])) is None
        assert len(buried) == 1
        assert load(path)["token"] == mine["token"]


def test_another_hosts_holder_is_dead_after_four_missed_heartbeats_only(tmp_path: Path) -> None:
    """Judged by the disk's clock, not by this node's."""
    path = tmp_path / "x.json"
    record = elsewhere(path, age=3.5 * leases.HEARTBEAT_SECONDS)
    assert leases.is_alive(record, path)
    record = elsewhere(path, age=4.5 * leases.HEARTBEAT_SECONDS)
    assert not leases.is_alive(record, path)


@pytest.mark.parametrize(
    ("answer", "alive"),
    [("echo RUNNING", True), ("true", False), ("echo 'Invalid job id specified' >&2; exit 1", False), ("exit 1", True)],
)
def test_the_cluster_is_asked_about_a_silent_job(tmp_path: Path, monkeypatch, answer: str, alive: bool) -> None:
    """A job SLURM no longer knows is dead before its heartbeats are missed; an unreachable SLURM says nothing."""
    program = tmp_path / "bin" / "squeue"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    record = elsewhere(tmp_path / "x.json", age=2 * leases.HEARTBEAT_SECONDS, cluster_job="77")
    assert leases.is_alive(record, tmp_path / "x.json") is alive


def test_many_takers_of_one_dead_lease_leave_one_holder(tmp_path: Path) -> None:
    """Eight threads, one winner, one burial."""
    path = tmp_path / "x.json"
    dump(path, {**leases.identity("a", "i"), "pid": dead_pid()})
    won, buried = [], []

    def one() -> None:
        if leases.take(path, leases.identity("a", "j"), buried.append) is None:
            won.append(1)

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(buried)) == (1, 1)


def test_a_lease_beats_and_is_gone_afterwards(tmp_path: Path, monkeypatch) -> None:
    """The heartbeat touches the file; leaving removes it and its lock."""
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.02)
    path, record = tmp_path / "x.json", leases.identity("a", "i")
    leases.take(path, record, lambda dead: None)
    os.utime(path, (1, 1))
    with leases.Lease(path, record) as lease:
        deadline = time.monotonic() + 5
        while path.stat().st_mtime < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert lease.still_ours()
    assert list(tmp_path.iterdir()) == []


def test_a_holder_that_was_taken_over_sees_it_and_leaves_the_new_lease(tmp_path: Path) -> None:
    """It must not seal, and must not remove what is no longer its own."""
    path, record = tmp_path / "x.json", leases.identity("a", "i")
    leases.take(path, record, lambda dead: None)
    with leases.Lease(path, record) as lease:
        dump(path, leases.identity("a", "j"))
        assert not lease.still_ours()
    assert path.exists()


def test_slots_let_no_more_than_their_number_run(tmp_path: Path) -> None:
    """Two slots of a provider: the third waits until it is told to stop, and gets one when one is free."""
    results, settings = Results(tmp_path), Settings(slots={"acme": 2})
    recipe = {"harness": {"name": "h", "auth": "key"}, "model": {"provider": "acme"}}
    lease = leases.identity("a", "i")
    with slots.held(results, settings, recipe, lease, lambda: None) as one:
        with (
            slots.held(results, settings, recipe, lease, lambda: None) as two,
            slots.held(results, settings, recipe, lease, lambda: "told") as three,
        ):
            assert (one, two, three) == (None, None, "told")
        with slots.held(results, settings, recipe, lease, lambda: "told") as again:
            assert again is None


def test_slots_without_a_limit_are_free(tmp_path: Path) -> None:
    """A harness and provider nobody limited wait for nothing."""
    recipe = {"harness": {"name": "h", "auth": "key"}, "model": {"provider": None}}
    with slots.held(Results(tmp_path), Settings(), recipe, leases.identity("a", "i"), lambda: "told") as refused:
        assert refused is None
    assert not (tmp_path / "slots").exists()


def test_later_attempts_of_an_arm_wait_for_its_first(tmp_path: Path) -> None:
    """While the first runs the second waits; once it passed everybody goes."""
    lease = leases.identity("a", "i")
    with preflight.admitted(tmp_path, lease, 60, lambda: None) as first:
        assert first is None
        with preflight.admitted(tmp_path, lease, 0.01, lambda: None) as second:
            assert second is not None
            assert "did not end in time" in second
        preflight.passes(tmp_path, lease["token"])
        with preflight.admitted(tmp_path, lease, 0.01, lambda: "stopped") as third:
            assert third is None


def test_a_failed_first_attempt_lets_one_more_try(tmp_path: Path) -> None:
    """Without a pass the next comer becomes the first."""
    for _ in range(2):
        with preflight.admitted(tmp_path, leases.identity("a", "i"), 60, lambda: None) as refused:
            assert refused is None


def test_attempts_of_a_dead_snakemake_and_after_a_stop_do_not_start(tmp_path: Path) -> None:
    """The stop flag belongs to one invocation; a start record tells that its process is gone."""
    results, settings, one = Results(tmp_path), Settings(invocation="one"), AttemptId("s", "t", "h", "m", "0" * 12, 1)
    invocation.announce(results, settings)
    assert invocation.stopped(results, settings, one) is None
    record = load(results.invocation("one") / "start.json")
    dump(results.invocation("one") / "start.json", {**record, "pid": dead_pid()})
    assert "is gone" in str(invocation.stopped(results, settings, one))
    assert invocation.stop(results, "one", "enough")
    assert not invocation.stop(results, "one", "really")
    assert invocation.stopped(results, settings, one) == "enough"
    assert invocation.stopped(results, Settings(invocation="two"), one) is None


def test_a_halted_pair_is_one_harness_and_model_and_keeps_its_first_reason(tmp_path: Path) -> None:
    """Others go on; the flags as a whole say the same as one attempt's look."""
    results, settings = Results(tmp_path), Settings(invocation="one")
    one, other = (AttemptId("s", "t", harness, "m", "0" * 12, 1) for harness in ("h", "g"))
    assert invocation.halt(results, settings, one, "no credit") == "no credit"
    assert invocation.halt(results, settings, one, "no credit left") == "no credit"
    assert invocation.stopped(results, settings, one) == invocation.halted(results, "one")(one) == "no credit"
    assert invocation.stopped(results, settings, other) is invocation.halted(results, "one")(other) is None
    invocation.stop(results, "one", "enough")
    assert invocation.halted(results, "one")(other) == "enough"


def test_attempts_not_run_are_counted_once_each(tmp_path: Path) -> None:
    """By reason, whether they were noted together or by themselves."""
    results = Results(tmp_path)
    ids = [AttemptId("s", "t", "h", "m", "0" * 12, n) for n in range(1, 5)]
    invocation.not_run(results, "one", ids[:3], "the cap")
    invocation.not_run(results, "one", ids[2:3], "the cap")
    invocation.not_run(results, "one", ids[3:], "a stop")
    assert invocation.all_not_run(results, "one") == {"a stop": 1, "the cap": 3}


def test_the_experiment_that_was_run_last_is_known(tmp_path: Path) -> None:
    """By its start, whatever the names; its newest invocation too. None where nothing was run."""
    results = Results(tmp_path)
    assert (invocation.last_run(results), invocation.newest(results, "a")) == (None, None)
    for number, name in enumerate(("b", "a", "b", "a", "c")):
        record = {**leases.identity(f"experiment {name}", f"i{number}"), "started_at": f"2026-01-0{number + 1}"}
        dump(results.invocation(f"i{number}") / "start.json", record)
    assert (invocation.last_run(results), invocation.newest(results, "a")) == ("c", "i3")
