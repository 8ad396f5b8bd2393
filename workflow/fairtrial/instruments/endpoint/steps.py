"""A task's reference solution as abstract steps: read, write, run."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from fairtrial.instruments.endpoint.turn import Json

PIECE = 60_000  # characters of one shell command; Linux takes 128 KiB in one argument
_MARK = "FAIRTRIAL_END"


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `path` is relative to the workspace; `text` None: the content cannot go through an edit tool."""

    kind: Literal["read", "write", "run"]
    path: str = ""
    text: str | None = None
    commands: tuple[str, ...] = ()  # the same through a shell, in the workspace; for a long file more than one


def steps(recipe: Json, solution: Path, *, passes: bool) -> list[Step]:
    """What to do, in order. Without `passes` it stops before the last file (or before the script)."""
    entries = [entry for entry in recipe["solution"] or [] if entry["mode"] != "dir"]
    script = _script(entries, recipe["toolset"]["name"])
    if script is not None:
        text = (solution / script).read_text(encoding="utf-8")
        made = [Step("run", commands=(heredoc("bash", text),))]
        return [*(made if passes else []), check(recipe)]
    known = {entry["path"] for entry in recipe["workspace"] if entry["mode"] in ("file", "exec")}
    kept = entries if passes else entries[:-1]
    return [*(step for entry in kept for step in _file(entry, solution, known)), check(recipe)]


def _script(entries: Sequence[Json], toolset: str) -> str | None:
    names = {entry["path"] for entry in entries}
    return next((name for name in (f"solve-{toolset}.sh", "solve.sh") if name in names), None)


def check(recipe: Json) -> Step:
    """The visible tests where the task has some, else a look at what changed."""
    modules = sorted(
        entry["path"].removesuffix(".py").replace("/", ".")
        for entry in recipe["acceptance"]
        if Path(entry["path"]).name.startswith("test") and entry["path"].endswith(".py")
    )
    words = ["python3", "-m", "unittest", *(f"acceptance.{name}" for name in modules)]
    return Step("run", commands=(shlex.join(words) if modules else "git status --short",))


def _file(entry: Json, solution: Path, known: set[str]) -> Iterator[Step]:
    path: str = entry["path"]
    if entry["mode"] == "link":
        place = f"ln -sfn {shlex.quote(entry['target'])} {shlex.quote(path)}"
        yield Step("run", commands=(_with_folder(path, place),))
        return
    content = (solution / path).read_bytes()
    if path in known:
        yield Step("read", path, commands=(f"cat {shlex.quote(path)}",))
    yield Step("write", path, _plain(content), tuple(writing(path, content)))
    if entry["mode"] == "exec":
        yield Step("run", commands=(f"chmod 755 {shlex.quote(path)}",))


def _plain(content: bytes) -> str | None:
    """The text, when an edit tool surely writes these very bytes: no carriage returns, no byte order mark."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return None if "\r" in text or "\0" in text or text.startswith("\ufeff") else text


def _with_folder(path: str, command: str) -> str:
    folder = Path(path).parent.as_posix()
    return command if folder == "." else f"mkdir -p {shlex.quote(folder)} && {command}"


def heredoc(command: str, text: str) -> str:
    """`command` with `text` on its standard input; `text` ends with a newline."""
    mark = _MARK
    while mark in text:
        mark += "_"
    return f"{command} <<'{mark}'\n{text}{'' if text.endswith(chr(10)) else chr(10)}{mark}"


def writing(path: str, content: bytes) -> list[str]:
    """Shell commands that write exactly `content`."""
    text = _plain(content)
    if text is not None and text.endswith("\n") and len(text) <= PIECE:
        return [_with_folder(path, heredoc(f"cat > {shlex.quote(path)}", text))]
    coded = base64.b64encode(content).decode()
    pieces = [coded[at : at + PIECE] for at in range(0, len(coded), PIECE)] or [""]
    commands = [
        f"printf %s {p} | base64 -d {'>' if at == 0 else '>>'} {shlex.quote(path)}" for at, p in enumerate(pieces)
    ]
    return [_with_folder(path, commands[0]), *commands[1:]]


def as_moves(found: Sequence[Step], *, edits: bool) -> list[Step]:
    """The steps with every shell command on its own where there is no edit tool, so that one step is one tool call."""
    single: list[Step] = []
    for step in found:
        if step.kind == "write" and edits and step.text is not None:
            single.append(step)
        else:
            single += [Step(step.kind if step.kind == "read" else "run", step.path, None, (c,)) for c in step.commands]
    return single


def describe(step: Step) -> dict[str, Any]:
    """For tests and logs."""
    return {"kind": step.kind, "path": step.path, "commands": list(step.commands)}
