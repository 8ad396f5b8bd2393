"""Starts the program a template names; `{prompt}`, `{prompt_file}`, `{workspace}` and `{model}` are filled in."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import Fault, UserError
from fairtrial.contracts.protocols import RUN, Bind, Launch, LaunchRequest, Network
from fairtrial.wire import starting

PROTOCOL = 1
SIMULATED = False
FREE = False
NEEDS_SOLUTION = False
CAPS: frozenset[str] = frozenset()
NETWORK: Network = "host"  # its model is out there
OPTIONS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "template": {"type": ["string", "array"], "items": {"type": "string"}, "minLength": 1, "minItems": 1},
        "output": {"enum": ["claude-json", "last-line-json", "none"]},
        "binds": {"type": "array", "items": {"type": "string"}},
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
        "version": {"type": "string"},
    },
    "required": ["template"],
    "additionalProperties": False,
}
ONE_ARGUMENT = 128 * 1024 - 1  # bytes; Linux refuses a longer one (MAX_ARG_STRLEN)
LONGEST_PATH = 4096
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_KNOWN = ("prompt", "prompt_file", "workspace", "model")
_SHOWN = ", ".join(f"{{{name}}}" for name in _KNOWN)
_NAMES = "|".join(sorted(_KNOWN, key=len, reverse=True))
# What was meant as a placeholder and would reach the program as it stands: a brace short, a space or capital too many.
# Other braces are the program's own: JSON, `{}`, `{a,b}`, awk. `${...}` is a shell's.
_UNCLOSED = re.compile(rf"\{{([a-z_]+)(?=$|[\s/.])|(?:^|[=:])({_NAMES})\}}")
_ALMOST = re.compile(r"(?<!\$)\{\s*([A-Za-z][A-Za-z_ -]*?)\s*\}")
_SYSTEM = ("/usr/", "/bin/", "/sbin/")
_PATH = "/usr/local/bin:/usr/bin:/bin"  # of every box, as in docs/isolation.md
_ALWAYS = ("python", "python3")  # on PATH of every box


def launch(request: LaunchRequest) -> Launch:
    """The template's words with their placeholders filled in one pass, so nothing inside a prompt is touched.

    Without `{prompt}` and `{prompt_file}`, and where the prompt is too long for one argument, it goes to stdin.
    """
    words = split(request.options["template"])
    prompt = request.prompt.encode()
    used = {name for word in words for name in _PLACEHOLDER.findall(word)}
    on_stdin = not used & {"prompt", "prompt_file"}
    if "prompt" in used and len(prompt) > ONE_ARGUMENT:
        on_stdin = True
        words = [word for word in words if word != "{prompt}"]
        if any("{prompt}" in word for word in words):
            raise Fault(
                "spawn", f"the prompt has {len(prompt)} bytes, more than one argument can hold; use {{prompt_file}}"
            )
    words[0], binds = _binds(words, request)
    values = {"prompt": request.prompt, "workspace": request.workspace, "model": request.model["id"] or ""}
    if "prompt_file" in used:
        file = request.scratch / "prompt.md"
        file.write_bytes(prompt)
        bind = Bind(file, f"{RUN}/prompt.md")
        binds.append(bind)
        values["prompt_file"] = request.shown(bind)
    argv = tuple(_PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in words)
    environment = {**_endpoint(request), **request.options.get("env", {}), **request.secrets}
    final = is_final_event if request.options.get("output") == "claude-json" else None
    return Launch(argv, environment, prompt if on_stdin else b"", binds=binds, is_final_event=final)


def _endpoint(request: LaunchRequest) -> dict[str, str]:
    """Where the model endpoint is, under the names that programs read; {} without one."""
    url = request.endpoint_url
    if url is None:
        return {}
    places = {"ANTHROPIC_BASE_URL": url, "GOOGLE_GEMINI_BASE_URL": url}
    places |= dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE"), f"{url}/v1")
    keys = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY") if request.model.get("rehearsal") else ()
    return {**places, **dict.fromkeys(keys, starting.NO_KEY)}


def split(template: str | list[str]) -> list[str]:
    """The template's words, as a shell would split them; UserError where it has none or a placeholder is mistaken."""
    try:
        words = shlex.split(template) if isinstance(template, str) else list(template)
    except ValueError as error:
        raise UserError(f"template: {template!r}: {error}; quote it as for a shell") from None
    if not words or not words[0].strip():
        raise UserError(f"template: {template!r} names no program; write its command line, with {_SHOWN}")
    for word in [*words, " ".join(words)]:  # `{ prompt }` is three words
        _check_word(word)
    if _PLACEHOLDER.search(words[0]):
        raise UserError(f"template: {words[0]!r}: the program itself can be no placeholder; name it before {_SHOWN}")
    return words


def check(options: dict[str, Any]) -> None:
    """What the schema cannot say of the options; UserError when the plan is made, not after an attempt reserved."""
    split(options["template"])


def _check_word(word: str) -> None:
    for name in _PLACEHOLDER.findall(word):
        if name not in _KNOWN:
            raise UserError(f"template: unknown placeholder {{{name}}} in {word!r}; known: {_SHOWN}")
    rest = _PLACEHOLDER.sub("", word)
    for found in _ALMOST.finditer(rest):
        meant = re.sub(r"[ -]", "_", found[1].lower())
        if meant in _KNOWN:
            raise UserError(f"template: unknown placeholder {found[0]} in {word!r}; known: {_SHOWN}")
    for half in _UNCLOSED.finditer(word):
        import difflib

        if difflib.get_close_matches(half[1] or half[2], _KNOWN, 1, 0.8):
            raise UserError(f"template: placeholder {half[0].lstrip('=:')} in {word!r} lacks a brace; known: {_SHOWN}")


def is_final_event(line: bytes) -> bool:
    """Is this stdout line Claude Code's result object?"""
    return line.startswith(b"{") and b'"type":"result"' in line.replace(b" ", b"")[:4096]


def _binds(words: list[str], request: LaunchRequest) -> tuple[str, list[Bind]]:
    """The program, and what is shown at its own path: its folder, absolute paths in the words, the options' binds.

    What is part of the system is shown anyway. A relative program is meant from here, not from the workspace. A folder
    that also holds the attempts would show them, so there only the program is.
    """
    found = shutil.which(words[0])
    if found is None:
        raise _missing(words[0])
    _check_interpreter(Path(found), request.options.get("env", {}))
    named = {Path(word) for word in words if word.startswith("/") and len(word) < LONGEST_PATH and Path(word).exists()}
    scratch = request.scratch.resolve()
    files = (Path(found).absolute(), Path(found).resolve())
    beside = {file if scratch.is_relative_to(file.parent) else file.parent for file in files}
    shown = {*beside, *named, *map(Path, request.options.get("binds", []))}
    there = str(files[0]).startswith(_SYSTEM) or words[0] in _ALWAYS
    program = words[0] if there else str(files[0])
    return program, [Bind(f, str(f)) for f in sorted(shown) if not f"{f}/".startswith(_SYSTEM)]


def probe_version(options: dict[str, Any]) -> str | None:
    """What the options say; a template has no way to ask."""
    words = split(options["template"])
    if shutil.which(words[0]) is None:
        raise _missing(words[0])
    version: str | None = options.get("version")
    return version


def _check_interpreter(program: Path, env: Mapping[str, str]) -> None:
    """A first line `#!/usr/bin/env node` asks for a program on the box's PATH. Raises Fault('cli_missing').

    `env` itself starts well there, so that without this look a missing interpreter would pass for the agent's failure.
    """
    with program.open("rb") as file:
        first = file.readline(256).decode("utf-8", "replace").strip()
    words = first.removeprefix("#!").split() if first.startswith("#!") else []
    if not words or Path(words[0]).name != "env" or "PATH" in env:
        return
    wanted = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), "/")
    if "/" in wanted or wanted in _ALWAYS:
        return
    if shutil.which(wanted, path=_PATH) is None:
        raise Fault(
            "cli_missing",
            f"{program} could not be started: its first line is {first!r}, and "
            f"{wanted} is not in {_PATH}, where the agent's commands are looked up; write the "
            f"interpreter's full path before it in the template, with its folder under binds",
        )


def _missing(program: str) -> Fault:
    """Why the program cannot be started, and what to write or do instead."""
    if not Path(program).is_file():
        if "/" in program:
            origin = "" if Path(program).is_absolute() else f"; looked for from {Path.cwd()}, not from the workspace"
            return Fault("cli_missing", f"{program} is not there{origin}")
        return Fault("cli_missing", f"{program} is not on PATH; install it, or give its full path in the template")
    if not os.access(program, os.X_OK):
        return Fault("cli_missing", f"{program} may not be executed; chmod +x {program}")
    return Fault("cli_missing", f"{program} is not on PATH; the one in this folder is ./{program}")
