"""Task packages: found, read, linted, selected."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import lean
from fairtrial.contracts.schema import few, meant, problems, schema

RUNNERS = (".py",)  # verifier files fairtrial starts with its own Python; others must be executable


@lean(frozen=True)
class Task:
    """One task package; `settings` is task.toml with its defaults filled in."""

    suite: str
    id: str
    folder: Path
    settings: dict[str, Any]

    @property
    def name(self) -> str:
        """suite/id, unique."""
        return f"{self.suite}/{self.id}"

    @property
    def prompt(self) -> str:
        """The exact text submitted."""
        return (self.folder / "prompt.md").read_text(encoding="utf-8")


def discover(folders: list[Path]) -> dict[str, Path]:
    """suite/id -> package folder, for every package below the suites folders; a suite in two folders is refused."""
    found: dict[str, Path] = {}
    owners: dict[str, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UserError(f"tasks_dirs: {folder} is not a folder; it should hold <suite>/<task>/task.toml")
        for toml in sorted(folder.glob("*/*/task.toml")):
            suite = toml.parent.parent
            if owners.setdefault(suite.name, suite) != suite:
                raise UserError(f"suite {suite.name!r} is in {owners[suite.name]} and in {suite}; rename one")
            found[f"{suite.name}/{toml.parent.name}"] = toml.parent
    return found


def read(name: str, folder: Path) -> Task:
    """Read and lint one package; every problem in one UserError, a line each."""
    import tomllib

    suite, _, task_id = name.partition("/")
    toml = folder / "task.toml"
    try:
        raw = tomllib.loads(toml.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{toml}: not valid TOML: {error}") from None
    found = problems(raw, "task") or lint(folder, raw)
    if not re.fullmatch(schema("task")["properties"]["id"]["pattern"].rstrip("$"), suite):
        found.append(f"suite: the folder {suite!r} is not allowed; lower-case letters, digits, dot, underscore, hyphen")
    if found:
        raise UserError("\n".join(f"{toml}: {line}" for line in found))
    return Task(suite, task_id, folder, with_defaults(raw))


def lint(folder: Path, raw: dict[str, Any]) -> list[str]:
    """What the schema cannot say: names, files, the verifier can be started."""
    found = []
    if raw["id"] != folder.name:
        found.append(f"id: {raw['id']!r} is not the folder's name {folder.name!r}; make them the same")
    if not (folder / "prompt.md").is_file():
        found.append("prompt.md is missing beside it; it holds the exact text submitted")
    elif not (folder / "prompt.md").read_bytes().strip():
        found.append("prompt.md beside it is empty; it holds the exact text submitted")
    if not any((folder / name).exists() for name in ("workspace", "workspace.sh")):
        found.append("workspace/ or workspace.sh is missing beside it; it holds what the agent starts with")
    if raw["verifier"].get("format", "checks") == "checks" and "checks" not in raw["verifier"]:
        found.append("verifier.checks: is missing; it names every check the verifier reports")
    program = folder / "verifier" / raw["verifier"].get("command", ["verify.py"])[0]
    if not program.is_file():
        found.append(f"verifier.command: verifier/{program.name} does not exist")
    elif program.suffix not in RUNNERS and not os.access(program, os.X_OK):
        found.append(f"verifier.command: verifier/{program.name} is not executable; chmod +x it")
    found += [
        f"protected: {path!r} must be a path inside the workspace"
        for path in raw.get("protected", [])
        if path.startswith("/") or ".." in path.split("/")
    ]
    return found


def with_defaults(raw: dict[str, Any]) -> dict[str, Any]:
    """task.toml with every optional key filled in."""
    verifier = {"command": ["verify.py"], "format": "checks", "seconds": 60, **raw["verifier"]}
    if verifier["format"] == "exit":
        verifier.setdefault("checks", {"verify": "milestone"})
    defaults: dict[str, Any] = {
        "label": raw["id"], "tags": [], "difficulty": None, "turns": 30, "usd": 2.0, "tokens": None, "check": None,
        "check_seconds": 60, "protected": [], "toolsets": [], "requires": [], "snapshot_ignore": [],
    }  # fmt: skip
    return {**defaults, **raw, "verifier": verifier}


def select(patterns: list[str], found: dict[str, Path]) -> list[Task]:
    """Tasks named by id, suite/id, suite, tag:x or a glob, in the order found; an unmatched pattern is a UserError."""
    cache: dict[str, Task] = {}

    def task(name: str) -> Task:
        if name not in cache:
            cache[name] = read(name, found[name])
        return cache[name]

    chosen: dict[str, None] = {}
    for pattern in patterns:
        matches = [
            n
            for n in found
            if _matches(pattern, n) or (pattern[:4] == "tag:" and pattern[4:] in task(n).settings["tags"])
        ]
        if not matches:
            tags = {tag for n in found for tag in task(n).settings["tags"]} if pattern.startswith("tag:") else set()
            raise UserError(_unmatched(pattern, found, tags))
        chosen.update(dict.fromkeys(matches))
    return [task(name) for name in found if name in chosen]


def _matches(pattern: str, name: str) -> bool:
    suite, _, task_id = name.partition("/")
    if any(sign in pattern for sign in "*?["):
        return fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(task_id, pattern)
    return pattern in (name, task_id, suite)


def _unmatched(pattern: str, found: dict[str, Path], tags: Iterable[str]) -> str:
    """`tags` is empty where no tag was meant: to know them every package is read."""
    suites = sorted({name.partition("/")[0] for name in found})
    ids = sorted(name.partition("/")[2] for name in found)
    within = [n for n in found if n.partition("/")[0] == pattern.partition("/")[0]]  # the suite is right, the task not
    known = [f"tag:{tag}" for tag in sorted(tags)]
    said = f"tasks: {pattern!r} matches no task"
    if known:
        return f"{said}{meant(pattern, known)}; tags: {few(known, '`fairtrial list tasks`')}"
    hint = meant(pattern, [*suites, *ids, *found])
    listed = "`fairtrial list tasks`"
    return f"{said}{hint}; suites: {few(suites, listed)}; tasks: {few(within or ids, listed)}; also tag:x and globs"
