"""The plan stage: freezes what attempts and grades will read, and writes matrix.json."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import digest, dump, load
from fairtrial.paths import Experiment, Results
from fairtrial.plan.files import CORRECTION, Manifest, freeze, freeze_bytes, manifest, place

if TYPE_CHECKING:  # every attempt imports this module, and none of them expands a matrix
    from fairtrial.plan.matrix import Cell, Matrix

_AUTHOR = "fairtrial"
_DATE = "2001-01-01T00:00:00+00:00"  # fixed, so that the start is the same on every machine


def write(matrix: Matrix, results: Results, experiment: Experiment) -> None:
    """Freeze every cell's files, recipe and grade, then write matrix.json."""
    tasks: set[str] = set()
    for cell in matrix.cells:
        task = cell.hashed.task
        if task.name not in tasks:
            tasks.add(task.name)
            freeze_task(results, cell)
        freeze_records(results, cell)
    dump(experiment.matrix, matrix.record)


def with_check(matrix: Matrix, command: str) -> None:
    """Judge every cell of `matrix` by this green command instead of the task's own; changes the cells in place."""
    for cell in matrix.cells:
        cell.gradespec["check"] = cell.row["check"] = command
        cell.row["grade_sha256"] = digest(cell.gradespec)
        cell.row["grade"] = cell.row["grade_sha256"][:12]


def freeze_records(results: Results, cell: Cell) -> None:
    """Keep the recipe and the grade specification of one cell."""
    for path, record in (
        (results.recipe(cell.row["recipe"]), cell.recipe),
        (results.gradespec(cell.row["grade"]), cell.gradespec),
    ):
        if not path.exists():
            dump(path, record, durable=False)
    toolset = cell.recipe["toolset"]
    if toolset["skills"]:
        from fairtrial import toolsets

        freeze(results, Path(toolsets.__path__[0]) / toolset["name"].replace("-", "_") / "skills", toolset["skills"])


def freeze_task(results: Results, cell: Cell) -> None:
    """Keep the files of one task package."""
    hashed = cell.hashed
    folder = hashed.task.folder
    for name in ("workspace", "acceptance", "verifier", "solution"):
        freeze(results, folder / name, getattr(hashed, name))
    freeze_bytes(results, hashed.task.prompt.encode(), cell.recipe["prompt_sha256"], folder / "prompt.md")
    for path, sha in ((folder / "workspace.sh", hashed.script), (folder / CORRECTION, hashed.correction)):
        if sha:
            freeze_bytes(results, path.read_bytes(), sha, path)
    if hashed.script is None:
        freeze_repository(results, hashed.workspace, hashed.acceptance)


def repository_record(results: Results, workspace: Manifest, acceptance: Manifest) -> Path:
    """Where the manifest of the fresh .git of this start is kept."""
    return results.objects / "repositories" / f"{digest([workspace, acceptance])[:24]}.json"


def freeze_repository(results: Results, workspace: Manifest, acceptance: Manifest) -> None:
    """Build the .git every attempt starts with, once: one root commit, fixed author and date, no reflog.

    Without git on the machine the start has no repository, and that is what the record says.
    """
    import shutil

    record = repository_record(results, workspace, acceptance)
    if _is_whole(results, record):
        return
    entries: Manifest = []
    if shutil.which("git"):
        import tempfile

        with tempfile.TemporaryDirectory(prefix="fairtrial-") as name:
            folder = Path(name) / "tree"
            place(results, workspace, folder)
            place(results, acceptance, folder / "acceptance")
            commit(folder)
            entries = manifest(folder / ".git")
            freeze(results, folder / ".git", entries)
    dump(record, {"entries": entries}, durable=False)


def _is_whole(results: Results, record: Path) -> bool:
    """Is the manifest there and every file that it names, so that nothing has to be built again?"""
    try:
        entries: Manifest = load(record)["entries"]
        return all(results.blob(entry["sha256"]).exists() for entry in entries if entry.get("sha256"))
    except (UserError, KeyError):
        return False  # not there, or cut off by a power cut


def commit(folder: Path) -> None:
    """Make `folder` a repository with one root commit of everything in it."""
    import subprocess

    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "HOME": str(folder),
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in _identity()},
    }

    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True)

    git("init", "-q", "-b", "main", "--template=")
    git("config", "core.logAllRefUpdates", "true")
    git("add", "-A", "-f")
    git("-c", "core.logAllRefUpdates=false", "commit", "-q", "--allow-empty", "--no-gpg-sign", "-m", "Start")
    git("repack", "-adq")  # one pack instead of a folder an object: it is laid out again for every attempt and tree
    git("prune-packed", "-q")


def _identity() -> tuple[tuple[str, str], ...]:
    return (("NAME", _AUTHOR), ("EMAIL", f"{_AUTHOR}@example.invalid"), ("DATE", _DATE))


def frozen_prompt(results: Results, recipe: dict[str, Any]) -> str:
    """The exact text submitted."""
    return results.blob(recipe["prompt_sha256"]).read_text(encoding="utf-8")
