"""What a package must hold beyond what a plan needs: the files of docs/add-a-task.md, and names that mean something."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.schema import meant
from fairtrial.plan.tasks import Task

ENTRIES = (
    "task.toml", "prompt.md", "workspace", "workspace.sh", "acceptance", "verifier", "solution", "wrong", "README.md",
)  # fmt: skip
ACCEPTANCE = "acceptance"
_FORM = 'it must hold fails = ["check", ...] and may hold passes = ["check", ...]'


def entries(task: Task) -> Iterator[str]:
    """One line per top-level entry nobody would read, and for a missing README.md. Hidden entries may be anything."""
    names = sorted(path.name for path in task.folder.iterdir())
    for name in names:
        if name not in ENTRIES and name != "__pycache__" and not name.startswith("."):
            yield f"{name}: no part of a task package{meant(name, ENTRIES)}; known: {', '.join(ENTRIES)}"
    if "README.md" not in names:
        yield "README.md is missing; it says what the task shows, and what typical bad attempts look like"


def protected(task: Task, tree: Path) -> Iterator[str]:
    """One line per protected path that the untouched workspace `tree` does not have: nothing would be protected."""
    for path in task.settings["protected"]:
        if not (tree / path).exists() and not (tree / path).is_symlink():
            names = (found.relative_to(tree) for found in tree.rglob("*"))
            known = [name.as_posix() for name in names if name.parts[0] != ".git"]
            yield f"task.toml: protected: {path!r} is nothing in the workspace{meant(path, known)}"


def acceptance(task: Task, tree: Path) -> str | None:
    """What is wrong where the green command names a folder acceptance/ that is not there."""
    command = task.settings["check"]
    if command is None or not re.search(rf"\b{ACCEPTANCE}\b", command) or (tree / ACCEPTANCE).exists():
        return None
    return f"acceptance/ is missing; task.toml's check = {command!r} needs it, so nothing can be green"


def checks(task: Task) -> list[str]:
    """The names of every check a verdict on this task is made of."""
    named = list(task.settings["verifier"]["checks"])
    return named if task.settings["check"] is None or ACCEPTANCE in named else [*named, ACCEPTANCE]


def read_expectation(folder: Path) -> dict[str, list[str]]:
    """wrong/<name>/expect.toml: `fails` names the checks that must catch it, `passes` those that must not."""
    name = f"wrong/{folder.name}/expect.toml"
    try:
        raw: dict[str, Any] = tomllib.loads((folder / "expect.toml").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{name} is missing; {_FORM}") from None
    except OSError as error:
        raise UserError(f"{name}: {error.strerror}; {_FORM}") from None
    except ValueError as error:
        raise UserError(f"{name}: not valid TOML: {error}; {_FORM}") from None
    if set(raw) - {"fails", "passes"} or not raw.get("fails"):
        found = ", ".join(raw) or "nothing"
        raise UserError(f"{name}: needs fails = [...] and may have passes = [...]; found {found}")
    for key, value in raw.items():
        if not isinstance(value, list) or not all(isinstance(check, str) for check in value):
            raise UserError(f"{name}: {key}: must be a list of names of checks; {_FORM}")
    return {"fails": raw["fails"], "passes": raw.get("passes", [])}


def unknown_checks(task: Task, expected: dict[str, list[str]]) -> Iterator[str]:
    """One line per name in `expected` that no check has."""
    known = checks(task)
    for name in dict.fromkeys([*expected["fails"], *expected["passes"]]):
        if name == ACCEPTANCE and name not in known:
            yield f'there is no check {ACCEPTANCE!r}: task.toml has no check = "...", the visible green command'
        elif name not in known:
            yield f"there is no check {name!r}{meant(name, known)}; checks: {', '.join(known)}"
