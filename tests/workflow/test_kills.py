"""Killed at any moment, the same command goes on: nothing finished is touched, nothing is run twice (O16, O21)."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.lab import Lab, wait_until

POINTS = 20
SIZE = {False: 12, True: 90}


def matrix(folder: Path, soak: bool) -> Lab:
    """A matrix of one counting harness over three tasks; 12 attempts, or 90 with --soak."""
    lab = Lab(folder, tasks=["one", "two", "three"], config={"repetitions": SIZE[soak] // 3})
    lab.config["harnesses"] = [lab.counted(seconds=0.2)]
    lab.write()
    return lab


def kill_snakemake_alone(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL to the one process: its attempts become orphans."""
    process.kill()
    process.wait(60)


def signal_group(number: int):
    """The whole process group, as a terminal or a scheduler does."""

    def send(process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        process.wait(60)

    return send


KILLS = {
    "SIGINT to the group": signal_group(signal.SIGINT),
    "SIGKILL of Snakemake": kill_snakemake_alone,
    "SIGKILL of the group": signal_group(signal.SIGKILL),
}


@pytest.mark.parametrize("kind", KILLS)
def test_the_same_command_finishes_after_kills_at_any_moment(tmp_path: Path, soak: bool, kind: str) -> None:
    """Twenty seeded kill points: every seal keeps its inode and bytes, and no agent starts without need.

    One matrix is killed again and again, each time after a seeded delay; whenever it is finished it gets another
    repetition, so that every kill has something to hit. Agents start at most once an attempt and once for each
    attempt in flight at a kill.
    """
    lab = matrix(tmp_path, soak)
    chance = random.Random(f"kills of {kind}")
    in_flight = 0
    for _ in range(POINTS):
        before, starts = lab.seals(), lab.starts()
        if len(before) == 3 * lab.config["repetitions"]:
            lab.config["repetitions"] += 1
            lab.write()
        process = lab.start()
        time.sleep(chance.uniform(0.5, 6.0 if soak else 3.0))
        if process.poll() is None:
            KILLS[kind](process)
            in_flight += 2
        after = lab.seals()
        assert before.items() <= after.items()
        assert lab.starts() >= starts
    assert wait_until(lambda: not list(lab.results.glob("attempts/**/.*.lease.json")) or kind != "SIGKILL of Snakemake")
    before = lab.seals()
    done = lab.snakemake()
    assert done.returncode == 0, done.stdout + done.stderr
    after = lab.seals()
    size = 3 * lab.config["repetitions"]
    assert len(after) == size >= SIZE[soak]
    assert before.items() <= after.items()
    assert [r["outcome"] for r in lab.graded()] == ["green"] * size
    assert size <= lab.starts() <= size + in_flight
    assert lab.planned() == {}


@pytest.mark.parametrize("to", ["Snakemake", "the group"])
def test_sigterm_ends_the_agents_or_lets_them_finish_and_the_same_command_goes_on(tmp_path: Path, to: str) -> None:
    """O21: asked to end, Snakemake alone lets what runs finish; the whole group ends at once; no seal is lost."""
    lab = Lab(tmp_path, config={"repetitions": 2})
    lab.config["harnesses"] = [lab.counted(seconds=2.0)]
    lab.write()
    process = lab.start()
    assert wait_until(lambda: lab.starts() == 2)
    if to == "Snakemake":
        process.terminate()
    else:
        signal_group(signal.SIGTERM)(process)
    assert process.wait(60) != 0
    assert lab.starts() == 2
    before = lab.seals()
    assert len(before) == (2 if to == "Snakemake" else 0)
    done = lab.snakemake()
    assert done.returncode == 0, done.stdout + done.stderr
    assert before.items() <= lab.seals().items()
    assert lab.starts() == 4 + (0 if to == "Snakemake" else 2)
    assert [r["outcome"] for r in lab.graded()] == ["green"] * 4


def test_orphans_of_a_killed_snakemake_finish_and_are_not_run_again(tmp_path: Path) -> None:
    """The relaunch waits for the attempts that still run instead of paying for them a second time."""
    lab = Lab(tmp_path, config={"repetitions": 1})
    lab.config["harnesses"] = [lab.counted(seconds=3.0)]
    lab.write()
    process = lab.start()
    assert wait_until(lambda: lab.starts() == 2)
    kill_snakemake_alone(process)
    done = lab.snakemake()
    assert done.returncode == 0, done.stdout + done.stderr
    assert lab.starts() == 2
    assert len(lab.graded()) == 2


def test_a_second_run_of_a_running_experiment_is_told(tmp_path: Path) -> None:
    """Exit code 2, with the process and host that run it; nothing is started beside it."""
    lab = Lab(tmp_path, config={"repetitions": 1})
    lab.config["harnesses"] = [lab.counted(seconds=3.0)]
    lab.write()
    process = lab.start()
    assert wait_until(lambda: lab.starts() == 2)
    second = lab.snakemake()
    assert second.returncode == 2
    assert f"is being run by process {process.pid} on {os.uname().nodename}" in second.stdout + second.stderr
    assert process.wait(60) == 0
    assert lab.starts() == 2


def test_a_killed_agent_leaves_no_process_behind(tmp_path: Path) -> None:
    """After SIGKILL of the group nothing of the old agents runs when the same command starts."""
    lab = Lab(tmp_path, config={"repetitions": 1, "isolation": "auto"})
    marker = f"sleep 97{os.getpid()}"
    lab.harnesses["sleeper"] = {
        "adapter": "command", "free": True, "network": "none",
        "options": {"template": ["sh", "-c", f"setsid {marker} & {marker}"], "output": "none"},
    }  # fmt: skip
    lab.config.update(harnesses=["sleeper"], tasks=["one"])
    lab.write()
    process = lab.start()
    assert wait_until(lambda: running(marker))
    signal_group(signal.SIGKILL)(process)
    assert wait_until(lambda: not running(marker), 10)


def running(marker: str) -> bool:
    """Is there a process with this text in its command line?"""
    return subprocess.run(["pgrep", "-f", marker], check=False, capture_output=True).returncode == 0
