"""A task package in memory, written out whole: what `new-task` and the importers make."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.plan import tasks

ALLOWED = "lower-case letters, digits, dot, underscore, hyphen; the first a letter or digit; at most 64"


@dataclass
class Package:
    """`files`: path in the package -> content; `executable`: those of them to mark so."""

    id: str
    files: dict[str, bytes] = field(default_factory=dict)
    executable: set[str] = field(default_factory=set)

    def add(self, folder: Path, under: str) -> None:
        """Take every file below `folder` along; links are refused, for a package must stand alone."""
        for path in sorted(folder.rglob("*")):
            if path.is_symlink():
                raise UserError(f"{path}: is a symbolic link; a task package holds plain files")
            if path.is_file() and "__pycache__" not in path.parts:
                name = f"{under}/{path.relative_to(folder).as_posix()}"
                self.files[name] = path.read_bytes()
                if path.stat().st_mode & 0o100:
                    self.executable.add(name)


class Refused(Exception):
    """Why one task cannot be imported: the file, its line where there is one, and the reason."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(f"{place}: {why}")


def is_slug(name: str) -> bool:
    """May `name` be the id of a suite or task?"""
    return re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", name) is not None


def slug(name: str) -> str:
    """`name` as an id."""
    return re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")[:64] or "unnamed"


def toml(settings: dict[str, Any]) -> bytes:
    """Plain values and one level of tables as TOML; a JSON string, number or list of strings is valid TOML."""

    def lines(table: dict[str, Any]) -> list[str]:
        return [f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in table.items() if not isinstance(v, dict)]

    text = lines(settings)
    for name, table in settings.items():
        if isinstance(table, dict):
            text += ["", f"[{name}]", *lines(table)]
    return ("\n".join(text) + "\n").encode()


def write(package: Package, suite: Path) -> Path:
    """Write a new package below the folder `suite` and lint it; one that is there already is a UserError."""
    for what, name in (("suite", suite.name), ("task", package.id)):
        if not is_slug(name):
            raise UserError(f"{what} {name!r} is not allowed; {ALLOWED}")
    folder = suite / package.id
    if folder.exists():
        raise UserError(f"{folder}: is there already; delete it or take another name")
    for name, content in package.files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        target.chmod(0o755 if name in package.executable else 0o644)
    try:
        tasks.read(f"{suite.name}/{package.id}", folder)
    except UserError:
        shutil.rmtree(folder)
        raise
    return folder
