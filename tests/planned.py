"""Experiments of any size that the Snakefile plans and finds done: real task packages, fabricated seals in place.

lab = planned(Path("somewhere"), 10_000)     # `lab.snakemake("-n")` has only tables and report left to make
"""

from __future__ import annotations

import base64
import contextlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import fabricate
from tests.lab import CHECKOUT, Lab

REPETITIONS = 5
LONGEST_NAME = 255
PINS = base64.b64encode((CHECKOUT / "environment.yml").read_bytes()).decode()


def planned(folder: Path, attempts: int) -> Lab:
    """A laboratory of at least `attempts` attempts of six arms, each with a fabricated seal and grade.

    Made in a process of its own, so that the memory it takes is not counted as anything else's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.planned", str(folder), str(attempts)]
    subprocess.run(command, cwd=CHECKOUT, check=True)
    return laboratory(folder, [])


def task_names(attempts: int) -> list[str]:
    """As many tasks as give at least so many attempts."""
    count = max(1, math.ceil(attempts / len(fabricate.ARMS_3X2) / REPETITIONS))
    return [f"task-{number:05d}" for number in range(count)]


def laboratory(folder: Path, tasks: list[str], agent: dict[str, Any] | None = None) -> Lab:
    """The configuration of six arms x 5 repetitions over every task of the folder, `tasks` added to them.

    `agent`: the entry of each harness; by default a command that is never run.
    """
    never = {"adapter": "command", "free": True, "network": "none", "options": {"template": ["true"], "output": "none"}}
    agent = agent or never
    return Lab(
        folder,
        tasks,
        {
            "harnesses": sorted({arm.harness for arm in fabricate.ARMS_3X2}),
            "models": sorted({arm.model for arm in fabricate.ARMS_3X2}),
            "repetitions": REPETITIONS,
        },
        {arm.harness: agent for arm in fabricate.ARMS_3X2},
        {arm.model: {"id": f"vendor/{arm.model}"} for arm in fabricate.ARMS_3X2},
    )


def fill(lab: Lab) -> None:
    """Freeze the plan and fabricate whatever it holds, with the records Snakemake keeps of jobs that it ran itself."""
    from fairtrial.paths import Results
    from fairtrial.plan import config, freeze
    from fairtrial.plan.matrix import expand

    with contextlib.chdir(lab.folder):
        matrix = expand(config.load(json.loads(Path("config.yaml").read_text()), CHECKOUT, Path.cwd()))
        results = Results(Path("results"))
        freeze.write(matrix, results, results.experiment("default"))
    arms = {(arm.harness, arm.model): arm for arm in fabricate.ARMS_3X2}
    settings = fabricate.Settings(side_files=False)
    metadata = lab.folder / ".snakemake" / "metadata"
    metadata.mkdir(parents=True, exist_ok=True)
    for row in matrix.record["cells"]:
        arm = arms[row["harness"], row["model"]]
        stem = "/".join(str(row[key]) for key in ("suite", "task", "harness", "model", "recipe"))
        for repetition in range(1, row["repetitions"] + 1):
            fabricate.attempt(lab.results, row, arm, repetition, 0.0, 1, settings)
            attempt = f"results/attempts/{stem}/r{repetition}"
            _remember(metadata, "attempt", f"{attempt}/sealed", [])
            _remember(metadata, "grade", f"{attempt}/grades/{row['grade']}/result.json", [f"{attempt}/sealed"])


def _remember(metadata: Path, rule: str, output: str, inputs: list[str]) -> None:
    """The record of one finished job, as the pinned Snakemake writes it."""
    name = base64.urlsafe_b64encode(output.encode()).decode()
    parts = [name[i : i + LONGEST_NAME - 1] for i in range(0, len(name), LONGEST_NAME - 1)]
    path = metadata.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "record_format_version": 6, "code": None, "rule": rule, "input": inputs, "log": [], "params": [],
        "shellcmd": f"fairtrial {rule}", "incomplete": False, "starttime": time.time(), "endtime": time.time(),
        "job_hash": 1, "conda_env": PINS, "container_img_url": None, "input_checksums": {},
    }  # fmt: skip
    path.write_text(json.dumps(record))


@dataclass(frozen=True, slots=True)
class Cost:
    """What one command took: CPU seconds with its children, wall seconds, the largest resident size in MB."""

    cpu: float
    wall: float
    megabytes: float
    output: str


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let this process and what it starts go before everything else on this machine, where that is allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    except (AttributeError, OSError):
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def cost(command: list[str], cwd: Path, environment: dict[str, str] | None = None, *, status: int = 0) -> Cost:
    """Run a command to its end and account for it; AssertionError when it ends with another status."""
    log = cwd / f".cost-{os.urandom(4).hex()}.log"
    with log.open("wb") as stream:
        began = time.monotonic()
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=stream, stderr=stream)
        _, state, used = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(state)
    text = log.read_text(errors="replace")
    log.unlink()
    assert process.returncode == status, text[-3000:]
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, text)


def main() -> None:
    """Fabricate from a shell: FOLDER ATTEMPTS."""
    fill(laboratory(Path(sys.argv[1]), task_names(int(sys.argv[2]))))


if __name__ == "__main__":
    main()
