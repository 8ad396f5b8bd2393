"""The untouched start and the reference of a task, built fresh: what a suspect verifier is tried on."""

from __future__ import annotations

import shutil
from pathlib import Path

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import RUN, Bind
from fairtrial.grading.judge_box import Boxes
from fairtrial.grading.judge_tree import holds_files
from fairtrial.plan.freeze import commit
from fairtrial.toolsets._start import set_up
from fairtrial.verify.files import copy_tree

SCRIPTS = f"{RUN}/scripts"
SECONDS = 120.0  # for workspace.sh and solve.sh


def build_start(task: Path, into: Path, boxes: Boxes) -> Path:
    """The workspace as an agent gets it: a copy of workspace/, then workspace.sh where there is one."""
    into.mkdir(parents=True)
    if (task / "workspace").is_dir():
        copy_tree(task / "workspace", into)
    script = task / "workspace.sh"
    if script.is_file():
        done = boxes.run(["bash", f"{SCRIPTS}/workspace.sh"], into, SECONDS, [Bind(script, f"{SCRIPTS}/workspace.sh")])
        if done.status != 0:
            raise Fault("other", f"grading: workspace.sh of the task failed: {done}")
    return into


def build_reference(task: Path, into: Path, toolset: str, boxes: Boxes) -> Path | None:
    """The start with the solution applied; None where the task has none or the solution's script fails.

    As an attempt gets it: acceptance files, a repository with one commit, the toolset's preparation.
    """
    solution = task / "solution"
    if not solution.is_dir() or not any(solution.iterdir()):
        return None
    build_start(task, into, boxes)
    if holds_files(task / "acceptance"):
        copy_tree(task / "acceptance", into / "acceptance")
    if not (task / "workspace.sh").is_file() and shutil.which("git"):
        commit(into)
    set_up(toolset, into)
    for name in (f"solve-{toolset}.sh", "solve.sh"):
        if (solution / name).is_file():
            done = boxes.run(["bash", f"{SCRIPTS}/{name}"], into, SECONDS, [Bind(solution, SCRIPTS)])
            return into if done.status == 0 else None
    copy_tree(solution, into)
    return into
