"""One attempt outside any matrix, in a results tree of its own below results/tries/."""

from __future__ import annotations

import csv
import math
import os
import re
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fairtrial.capture import attempt
from fairtrial.capture.settings import from_environment
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import replaced
from fairtrial.contracts.plain import plain
from fairtrial.contracts.schema import data_folder
from fairtrial.grading import grade
from fairtrial.paths import AttemptId, Results
from fairtrial.plan import config as configuration
from fairtrial.plan import freeze, snake
from fairtrial.plan.matrix import Matrix, expand
from fairtrial.wire.captured import STDERR

INTERPRETER = re.compile(r"(?:python|node|ruby|perl|bash|sh|zsh|deno|bun|php)[0-9.]*")  # runs the file it is given


@dataclass(slots=True)
class Wanted:
    """What to try; see the options of the verb."""

    task: str
    harness: str | None = None
    model: str = "default"
    toolset: str = "git"
    agent_cmd: str | None = None
    output: str | None = None
    green_cmd: str | None = None
    network: str | None = None
    wall_seconds: float | None = None
    tasks_dir: list[Path] = field(default_factory=list)


def run_once(wanted: Wanted, results: Path) -> tuple[dict[str, str] | None, bool | None]:
    """The CSV row by column name, and whether it is green; (None, None) after a fault, which is on stderr."""
    matrix, config = planned(wanted)
    cell = matrix.cells[0]
    moment = datetime.now(UTC)
    tree = Results(Results(results).tries / f"{moment:%Y%m%dT%H%M%S%f}-{cell.row['task']}"[:96])
    freeze.write(matrix, tree, tree.experiment("try"))
    settings = from_environment()
    stage = snake.stage_settings(config, matrix)
    settings = replaced(settings, allow=True, access=stage["access"], free=frozenset(stage["free"]), name="try")
    attempt_id = AttemptId.parse(cell.attempt_id(1))
    if attempt.run(tree, attempt_id, settings) != 0:
        sys.stderr.write("".join(f"evidence: {path.parent}\n" for path in tree.fault_records()))
        return None, None
    grade.run(tree, attempt_id, cell.row["grade"])
    folder = tree.attempt(attempt_id).folder
    sys.stderr.write(f"evidence: {folder}\n{_complaint(folder, tree, attempt_id, cell.row['grade'])}")
    return row_of(tree, matrix), is_green(tree, attempt_id, cell.row["grade"])


def planned(wanted: Wanted) -> tuple[Matrix, configuration.Config]:
    """A matrix of one cell and one repetition."""
    base = data_folder("schemas").parent
    raw: dict[str, Any] = {
        "name": "try",
        "tasks": [wanted.task],
        "harnesses": [wanted.harness or "try"],
        "models": [wanted.model],
        "toolsets": [wanted.toolset],
        "repetitions": 1,
        "tasks_dirs": [str(folder.absolute()) for folder in wanted.tasks_dir],
    }
    if wanted.network:
        raw["network"] = wanted.network
    if wanted.wall_seconds is not None:
        if not 0 < wanted.wall_seconds < math.inf:
            raise UserError(f"--wall-seconds {wanted.wall_seconds:g}: must be more than 0")
        raw["budget"] = {"wall_seconds": wanted.wall_seconds}
    entry = _entry(wanted)
    config = configuration.load(raw, base, Path.cwd(), {entry[0]: entry[1]} if entry else {})
    matrix = expand(config)
    if len(matrix.cells) != 1:
        names = ", ".join(f"{cell.row['suite']}/{cell.row['task']}" for cell in matrix.cells)
        raise UserError(f"{wanted.task!r} names {len(matrix.cells)} tasks ({names}); try takes one")
    _refuse_own_script(wanted.agent_cmd, matrix)
    if wanted.green_cmd is not None:
        _refuse_no_shell(wanted.green_cmd)
        freeze.with_check(matrix, wanted.green_cmd)
    return matrix, config


def _refuse_no_shell(command: str) -> None:
    """A green command that no shell can read would make every attempt red."""
    import subprocess

    read = subprocess.run(["sh", "-n", "-c", command], capture_output=True, text=True, check=False)
    if read.returncode != 0:
        why = read.stderr.strip().splitlines()[-1:] or ["it cannot be read"]
        raise UserError(f"--green-cmd {command!r}: {why[0]}; it is one line for sh")


def _entry(wanted: Wanted) -> tuple[str, dict[str, Any]] | None:
    """The harness entry that --agent-cmd makes."""
    if wanted.agent_cmd is None:
        if wanted.harness is None:
            raise UserError("--harness: is missing; name one of config/harnesses.yaml, or give --agent-cmd")
        return None
    from fairtrial.harnesses.command.launch import split

    try:
        split(wanted.agent_cmd)
    except UserError as error:
        raise UserError(f"--agent-cmd: {error}") from None
    options = {"template": wanted.agent_cmd, **({"output": wanted.output} if wanted.output else {})}
    return wanted.harness or "try", {"adapter": "command", "options": options}


def _refuse_own_script(command: str | None, matrix: Matrix) -> None:
    """A script named from here, `python3 agent.py`: the agent starts in the workspace, where it is not."""
    from fairtrial.harnesses.command.launch import split

    script = _script([] if command is None else split(command))
    package = matrix.cells[0].hashed.task.folder
    if script is None or not Path(script).is_file() or (package / "workspace.sh").exists():
        return
    if not (package / "workspace" / script).exists():
        raise UserError(
            f"--agent-cmd: {script} is a file here, but the agent starts in the task's workspace, which has none; "
            f"write {Path(script).absolute()}"
        )


def _script(words: list[str]) -> str | None:
    """The relative file that an interpreter is given to run; None for anything else."""
    if not words or not INTERPRETER.fullmatch(Path(words[0]).name):
        return None
    first = next((word for word in words[1:] if not word.startswith("-") or word in ("-c", "-m")), "/")
    return None if first.startswith(("/", "-", "{")) else first


def row_of(tree: Results, matrix: Matrix) -> dict[str, str]:
    """The attempt's row of time-to-green.csv."""
    from fairtrial.analysis import dataset

    out = tree.experiment("try").dataset
    dataset.build(tree.root, matrix.record, out)
    with (out / "time-to-green.csv").open(encoding="utf-8", newline="") as stream:
        return next(iter(csv.DictReader(stream)))


def is_green(tree: Results, attempt_id: AttemptId, grade12: str) -> bool:
    """Is the outcome green?"""
    from fairtrial.contracts.records import load

    return bool(load(tree.attempt(attempt_id).result(grade12))["outcome"] == "green")


def _complaint(folder: Path, tree: Results, attempt_id: AttemptId, grade12: str) -> str:
    """The last line of an agent's standard error, where the agent failed by itself; else nothing."""
    from fairtrial.contracts.records import load

    if load(tree.attempt(attempt_id).result(grade12))["outcome"] != "agent_error":
        return ""
    lines = (folder / STDERR).read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line for line in reversed(lines) if line.strip()), "")
    return f"the agent's standard error ends: {plain(last[:500])}\n" if last else ""


def writable(path: Path) -> None:
    """Raises UserError where no row can be appended: better before the attempt is paid than after it."""
    new = not path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
    except OSError as error:
        raise UserError(f"--csv {path}: {error.strerror}; name a file that can be written") from None
    if new:
        path.unlink()  # nothing is left of an attempt that never ran


def append_row(path: Path, row: dict[str, str]) -> None:
    """Append to a CSV, with its header when it is new; a torn last line is ended first."""
    from fairtrial.analysis.dataset_csv import csv_line

    new = not path.exists() or path.stat().st_size == 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as stream:
        if not new:
            stream.seek(-1, os.SEEK_END)
            if stream.read(1) != b"\n":
                stream.write(b"\n")
        header = csv_line([*row]) if new else ""
        stream.write((header + csv_line([*row.values()])).encode())
