"""The untouched start and the reference of a task, built fresh: what a suspect verifier is tried on."""

from __future__ import annotations

from pathlib import Path

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import Bind
from fairtrial.grading.judge_box import HOLDER, prefix
from fairtrial.verify.blackbox import BrokenBox, plain_environment, run_child
from fairtrial.verify.files import copy_tree

SOLUTION = "/run/ft/solution"
SCRIPTS = "/run/ft/task"
SECONDS = 120.0  # for workspace.sh and solve.sh


def build_start(task: Path, into: Path, policy: str) -> Path:
    """The workspace as an agent gets it: a copy of workspace/, then workspace.sh where there is one."""
    into.mkdir(parents=True)
    if (task / "workspace").is_dir():
        copy_tree(task / "workspace", into)
    if (task / "workspace.sh").is_file():
        _script(task / "workspace.sh", into, policy)
    return into


def build_reference(task: Path, into: Path, toolset: str, policy: str) -> Path | None:
    """The start with the solution applied; None where the task has none or the solution's script fails."""
    solution = task / "solution"
    if not solution.is_dir() or not any(solution.iterdir()):
        return None
    build_start(task, into, policy)
    acceptance = task / "acceptance"
    if acceptance.is_dir():
        copy_tree(acceptance, into / "acceptance")
    for name in (f"solve-{toolset}.sh", "solve.sh"):
        if (solution / name).is_file():
            return into if _script(solution / name, into, policy, required=False) else None
    copy_tree(solution, into)
    return into


def _script(script: Path, workspace: Path, policy: str, *, required: bool = True) -> bool:
    """Run a task's script in a box with its folder mounted read-only; True when its status is 0."""
    boxed = prefix(policy, [Bind(script.parent, SCRIPTS)])
    argv = ["sh", f"{SCRIPTS if boxed else script.parent}/{script.name}"]
    full = [part.replace(HOLDER, str(workspace)) for part in boxed] + argv
    env = {} if boxed else plain_environment(workspace)
    try:
        ran = run_child(full, tuple(argv), workspace, stdin=b"", seconds=SECONDS, env=env)
    except BrokenBox as e:
        raise Fault("sandbox", f"grading: {e}") from None
    if required and ran.status != 0:
        raise Fault("other", f"grading: {script.name} of the task failed: {ran}")
    return ran.status == 0
