"""`fairtrial stop`, and a submitting Snakemake that is killed on its login node, with attempts in every state."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lab import wait_until
from tests.slurm_rig import Login, asked, idle, jobs, refusals

pytestmark = pytest.mark.cluster
ATTEMPTS = 6
GROUPS = ("--group-components", "attempt=2", "--jobs", "2", "--slurm-init-seconds-before-status-checks=4")
REASON = "the cluster is needed"
# Notes its start, then works for as long as a file stands.
AGENT = """\
import pathlib, time
with open({log!r}, "a") as log:
    log.write("started\\n")
until = time.monotonic() + 120
while pathlib.Path({hold!r}).exists() and time.monotonic() < until:
    time.sleep(0.05)
pathlib.Path("answer.txt").write_text("42\\n")
"""


@contextmanager
def crowded() -> Iterator[None]:
    """Somebody else's job that leaves one CPU of the node's sixteen."""
    wanted = ["sbatch", "--parsable", "--cpus-per-task=15", "--mem=100", "--output=/dev/null", "--wrap=sleep 600"]
    job = subprocess.run(wanted, capture_output=True, text=True, check=True).stdout.strip()
    assert wait_until(lambda: job in jobs("RUNNING"), 30)
    try:
        yield
    finally:
        subprocess.run(["scancel", job], check=True)


def half_started(lab: Login) -> tuple[subprocess.Popen[bytes], list[str]]:
    """One attempt that works in a job, its neighbour in that job, a job that is pending, one that is not submitted."""
    before, starts = set(jobs()), lab.starts()
    (lab.folder / "hold").touch()
    process = lab.start(*GROUPS)
    ready = wait_until(lambda: lab.starts() > starts and len(jobs("PENDING")) == 1, 90)  # the second one for room
    assert ready, (lab.folder / "snakemake.log").read_text()
    pending = jobs("PENDING")
    return process, [*(set(jobs()) - before - set(pending)), *pending]


def leases(lab: Login) -> list[Path]:
    """Of attempts, held or left."""
    return list(lab.results.glob("attempts/**/.*.lease.json"))


@dataclass
class Ran:
    """The finished laboratory, and what was seen on the way."""

    lab: Login
    stopped: subprocess.CompletedProcess[str]  # fairtrial stop
    status: list[str]  # fairtrial status, at the stop and after it
    ended: int  # Snakemake's exit code after the stop
    said: str  # by it
    starts: int  # of agents until then
    seals: dict[str, tuple[int, bytes]]
    graded: int
    leases: list[Path]
    refused: list[str]  # what each job of the stopped run said that it did not run
    orphans: list[str]  # jobs of the killed Snakemake, the one that was pending last
    killed: dict[str, tuple[int, bytes]]  # seals when it was killed


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Stopped by the verb; the same command, whose Snakemake is killed; the same command again, to the end."""
    lab = Login(tmp_path_factory.mktemp("stopped"), ["one"], {"repetitions": ATTEMPTS})
    lab.config["harnesses"] = [lab.counted()]
    hold = lab.folder / "hold"
    (lab.folder / "counted.py").write_text(AGENT.format(log=str(lab.folder / "starts.log"), hold=str(hold)))
    lab.write()
    with crowded():
        process, submitted = half_started(lab)
        stopped = lab.fairtrial("stop", "--reason", REASON)
        status = [lab.fairtrial("status").stdout]
    hold.unlink()
    ended = process.wait(200)
    assert wait_until(idle, 60)
    status.append(lab.fairtrial("status").stdout)
    said = (lab.folder / "snakemake.log").read_text()
    refused = [line for job in submitted for line in refusals(job)]
    then = (lab.starts(), lab.seals(), len(lab.graded()), leases(lab), refused)
    with crowded():
        process, orphans = half_started(lab)
        process.kill()
        process.wait(30)
        killed, known = lab.seals(), set(lab.results.glob("invocations/*/start.json"))
        process = lab.start(*GROUPS, "--jobs", "3")
        assert wait_until(lambda: set(lab.results.glob("invocations/*/start.json")) - known, 60)
        hold.unlink()
    assert process.wait(200) == 0, (lab.folder / "snakemake.log").read_text()
    assert wait_until(idle, 60)
    return Ran(lab, stopped, status, ended, said, *then, orphans, killed)


def test_stop_lets_what_runs_on_a_node_end_and_nothing_else_start(ran: Ran) -> None:
    """The attempt that ran is sealed and graded; of its neighbour and of a pending job no agent starts."""
    assert ran.stopped.returncode == 0, ran.stopped.stderr
    assert "default: starts no further attempt; 1 attempt still running" in ran.stopped.stdout
    assert "to go on afterwards: snakemake" in ran.stopped.stdout
    assert (ran.starts, len(ran.seals), ran.graded, ran.leases) == (1, 1, 1, [])
    assert all(line.endswith(f": not run: {REASON}") for line in ran.refused)


def test_stop_takes_jobs_that_are_not_submitted_out_of_the_queue(ran: Ran) -> None:
    """Two of three submissions are made; Snakemake ends with 1 and says of every attempt left that it was not run."""
    assert ran.ended == 1
    assert len(ran.refused) == 2
    assert f"fairtrial: 2 attempts will not start: {REASON}" in ran.said
    assert f"{ATTEMPTS - 1} attempts not run: {REASON}" in ran.said
    assert f"stop    no further attempt starts: {REASON}" in ran.status[0]
    assert f"1 of {ATTEMPTS} attempts done; not running" in ran.status[1]
    assert f"not run {ATTEMPTS - 1} attempts: {REASON}" in ran.status[1]
    assert "go on   snakemake -s" in ran.status[1]


def test_the_same_command_does_each_attempt_that_was_left_once(ran: Ran) -> None:
    """After the stop and a SIGKILL of the submitting Snakemake no agent starts twice, no lease or scratch is left."""
    assert ran.lab.starts() == len(ran.lab.seals()) == len(ran.lab.graded()) == ATTEMPTS
    assert ran.seals.items() <= ran.killed.items() <= ran.lab.seals().items()
    assert ran.lab.faults() == []
    assert leases(ran.lab) == list((ran.lab.results / "scratch").glob("*")) == []
    assert ran.lab.planned() == {}


def test_jobs_of_a_killed_snakemake_end_because_another_run_goes_on(ran: Ran) -> None:
    """What runs in them is sealed there; each ends FAILED by the next attempt, not run, and for no other reason."""
    states = [asked(job, "JobState") for job in ran.orphans]
    assert states[0] in ("COMPLETED", "FAILED")  # the first if nothing stood behind the attempt that ran
    assert states[1:] == ["FAILED"]
    failed = ran.orphans[states.count("COMPLETED") :]
    told = [line for job in failed for line in refusals(job)]
    kept = [json.loads(path.read_bytes())["reason"] for path in ran.lab.results.glob("invocations/*/not-run/*.json")]
    gone = [reason for reason in kept if reason != REASON]
    assert len(gone) >= len(failed)
    assert all("on login) is gone, another run goes on with it" in reason for reason in (*gone, *told))
    hosts = {json.loads(path.read_bytes())["host"] for path in ran.lab.results.glob("invocations/*/start.json")}
    assert hosts == {"login"}
