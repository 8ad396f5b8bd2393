"""One start of Snakemake: refuses what may not be spent or is already being run; says what to do after faults."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from fairtrial.capture.spend import gate
from fairtrial.capture.spend.leases import Lease, identity, take
from fairtrial.contracts.errors import UserError
from fairtrial.paths import Results
from fairtrial.plan.snake import INVOCATION, Plan

_held: dict[Path, Lease] = {}


def begin(plan: Plan, cwd: Path) -> None:
    """Before the first job, not in a dry run: the spend gate, then this experiment's lock. Exits 2 when refused."""
    results = Results(cwd / "results")
    try:
        gate.check(results, plan.matrix.record["cells"], plan.config.settings["spend"]["allow"])
        _lock(results, plan.name)
    except UserError as error:
        sys.stderr.write(f"fairtrial: {error}\n")
        sys.exit(2)


def _lock(results: Results, name: str) -> None:
    path = results.experiment(name).folder / ".running.json"
    record = identity(f"experiment {name}", os.environ.get(INVOCATION, "unknown"))
    other = take(path, record, lambda dead: None)
    if other is not None:
        raise UserError(
            f"experiment {name!r} is being run by process {other.get('pid')} on {other.get('host')} "
            f"since {other.get('started_at')}; wait for it, or give this one another name: in the configuration"
        )
    _held[path] = Lease(path, record).__enter__()


def end(plan: Plan, cwd: Path) -> None:
    """Everything is there."""
    _release()
    path = Results(cwd / "results").experiment(plan.name).report / "summary.txt"
    if path.exists():
        sys.stderr.write(f"{path.read_text(encoding='utf-8')}\nreport: {path.with_name('index.html')}\n")


def end_with_faults(plan: Plan, cwd: Path) -> None:
    """A rule failed or the run was stopped: build the report of what is there, say how to go on."""
    if not _held:
        return  # refused at the start: nothing ran
    _release()
    command = [sys.executable, "-m", "fairtrial", "report", "--so-far"]
    subprocess.run(command, cwd=cwd, check=False, stdin=subprocess.DEVNULL)
    folder = Results(cwd / "results").experiment(plan.name).so_far / "report"
    sys.stderr.write(
        f"fairtrial: not everything ended well; what is there so far: {folder / 'index.html'}\n"
        "fairtrial: the same snakemake command goes on where this one stopped\n"
    )


def _release() -> None:
    while _held:
        _held.popitem()[1].__exit__()
