"""The trees `check` judges: the start as an agent gets it, with the reference or a wrong solution applied."""

from __future__ import annotations

import itertools
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairtrial import registry
from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import RUN, Bind, Box
from fairtrial.instruments.sandbox.toolchains import binds_for
from fairtrial.plan.freeze import commit
from fairtrial.plan.recipe import HashedTask, asked_by
from fairtrial.plan.tasks import Task
from fairtrial.toolsets._start import place_home, set_up

SECONDS = 120.0
_TREES = itertools.count(1)
_IGNORE = shutil.ignore_patterns("__pycache__", "expect.toml")


@dataclass
class Start:
    """A task and the folder its trees are built in."""

    task: Task
    scratch: Path
    spec: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.spec = spec_of(self.task)

    def toolsets(self, skipped: list[str]) -> list[str]:
        """The toolsets the task is written for whose programs are here; the others are named in `skipped`."""
        found = []
        for name in self.task.settings["toolsets"] or ["git"]:
            absent = [b for b in registry.load("fairtrial.toolsets", name, "toolset").BINARIES if not shutil.which(b)]
            if absent:
                skipped.append(f"toolset {name}: {', '.join(absent)} is not installed")
            else:
                found.append(name)
        return found


def build_start(start: Start, *, toolset: str = "git") -> Path:
    """A new tree: workspace/, workspace.sh, acceptance/, a repository, the toolset's preparation."""
    folder = start.task.folder
    tree = start.scratch / f"tree-{next(_TREES)}"
    tree.mkdir()
    if (folder / "workspace").is_dir():
        shutil.copytree(folder / "workspace", tree, symlinks=True, dirs_exist_ok=True, ignore=_IGNORE)
    script = folder / "workspace.sh"
    if script.is_file():
        said = _run(start, tree, ["bash", f"{RUN}/workspace.sh"], Bind(script, f"{RUN}/workspace.sh"))
        if said:
            raise Fault("toolset", f"workspace.sh {said}")
    if (folder / "acceptance").is_dir():
        shutil.copytree(folder / "acceptance", tree / "acceptance", dirs_exist_ok=True, ignore=_IGNORE)
    if not script.is_file() and shutil.which("git"):
        commit(tree)
    set_up(toolset, tree)
    return tree


def play_solution(start: Start, tree: Path, toolset: str) -> str | None:
    """Apply the reference; None, or what went wrong."""
    return _apply(start, tree, start.task.folder / "solution", (f"solve-{toolset}.sh", "solve.sh"), toolset)


def lay_wrong(start: Start, tree: Path, folder: Path) -> str | None:
    """Apply a known-wrong solution: its solve.sh after its files; None, or what went wrong."""
    return _apply(start, tree, folder, ("solve.sh",))


def _apply(start: Start, tree: Path, folder: Path, scripts: tuple[str, ...], toolset: str = "git") -> str | None:
    if not folder.is_dir():
        return "does not exist"
    for name in scripts:
        if (folder / name).is_file():
            return _run(start, tree, ["bash", f"{RUN}/play/{name}"], Bind(folder, f"{RUN}/play"), toolset)
    shutil.copytree(folder, tree, symlinks=True, dirs_exist_ok=True, ignore=_IGNORE, copy_function=shutil.copyfile)
    return None


def _run(start: Start, tree: Path, argv: list[str], bind: Bind, toolset: str = "git") -> str | None:
    from fairtrial.instruments.sandbox.run import run_simple

    home = start.scratch / f"home-{next(_TREES)}"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = agent\n\temail = agent@example.invalid\n")
    place_home(toolset, home)
    environment = {"LANG": "C.UTF-8", "GIT_CONFIG_NOSYSTEM": "1"}
    shown, path = binds_for(start.task.settings["requires"])
    done = run_simple(Box(tree, home, argv=argv, env=environment, binds=[*shown, bind], path=path), SECONDS)
    if done.status == 0:
        return None
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-300:]
    return f"{argv[-1].rpartition('/')[2]} ended with status {done.status}: {said}"


def spec_of(task: Task) -> dict[str, Any]:
    """A grade specification straight from the package, for the judge."""
    return {**asked_by(HashedTask(task)), "toolset": (task.settings["toolsets"] or ["git"])[0]}
