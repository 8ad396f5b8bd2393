"""An abstract step as a call of whatever tool the request offers; names and parameters as the programs have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairtrial.instruments.endpoint.steps import Step
from fairtrial.instruments.endpoint.turn import Json, Move, Tool

SHELL = ("Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "run_in_terminal")
WRITE = ("Write", "write", "write_file", "WriteFile", "create_file")
READ = ("Read", "read", "read_file", "ReadFile")
_COMMAND = ("command", "cmd", "script", "input")
_PATH = ("file_path", "filePath", "path", "absolute_path", "filename")
_CONTENT = ("content", "contents", "text", "file_text")
_FILL: Mapping[str, Any] = {
    "string": "rehearsal",
    "boolean": False,
    "integer": 1,
    "number": 1,
    "array": [],
    "object": {},
}
_SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"  # mini-swe-agent ends with this command, not with a text


class NoTool(Exception):
    """The request offers nothing a step could be done with."""


def first(tools: Sequence[Tool], names: Sequence[str]) -> Tool | None:
    """The offered tool that comes first in `names`."""
    offered = {tool.name: tool for tool in tools}
    return next((offered[name] for name in names if name in offered), None)


def can_edit(tools: Sequence[Tool]) -> bool:
    """Is there a tool that writes a file?"""
    return first(tools, WRITE) is not None or _patch(tools) is not None


def _patch(tools: Sequence[Tool]) -> Tool | None:
    return next((tool for tool in tools if tool.name == "apply_patch" and tool.free_form), None)


def call(step: Step, tools: Sequence[Tool], workspace: str) -> Move:
    """The tool call for `step`. Raises NoTool."""
    path = f"{workspace.rstrip('/')}/{step.path}"
    reads, writes = first(tools, READ), first(tools, WRITE)
    if step.kind == "read" and reads is not None:
        return _move(reads, {_PATH: path})
    if step.kind == "write" and step.text is not None:
        if writes is not None:
            return _move(writes, {_PATH: path, _CONTENT: step.text})
        if (patch := _patch(tools)) is not None:
            return Move(tool=patch.name, arguments=added(step.path, step.text))
    return shell(step.commands[0], tools, workspace)


def shell(command: str, tools: Sequence[Tool], workspace: str) -> Move:
    """A command in the workspace."""
    tool = first(tools, SHELL)
    if tool is None:
        raise NoTool("no shell among the tools offered: " + ", ".join(t.name for t in tools))
    move = _move(tool, {_COMMAND: command})
    if isinstance(move.arguments, dict) and "workdir" in tool.properties:
        move.arguments["workdir"] = workspace
    return move


def submit(tools: Sequence[Tool], workspace: str) -> Move:
    """The last command of a program that ends by one."""
    return shell(_SUBMIT, tools, workspace)


def added(path: str, text: str) -> str:
    """A patch that writes a whole file."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return "\n".join(["*** Begin Patch", f"*** Add File: {path}", *(f"+{line}" for line in lines), "*** End Patch", ""])


def _move(tool: Tool, wanted: Mapping[tuple[str, ...], str]) -> Move:
    given: Json = {}
    for names, value in wanted.items():
        name = next((n for n in names if n in tool.properties), names[0])
        kind = tool.properties.get(name)
        is_list = isinstance(kind, dict) and kind.get("type") == "array"
        given[name] = ["bash", "-c", value] if is_list else value
    for name in tool.required:
        given.setdefault(name, _filled(tool.properties.get(name)))
    return Move(tool=tool.name, arguments=given)


def _filled(about: Any) -> Any:
    """A harmless value for a parameter that is required and says nothing to us."""
    about = about if isinstance(about, dict) else {}
    if about.get("enum"):
        return about["enum"][0]
    kind = about.get("type", "string")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    return _FILL.get(str(kind).lower(), "rehearsal")
