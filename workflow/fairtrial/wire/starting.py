"""What the launchers of real agent programs share: options, keys, files to place, limits of one argument."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from fairtrial.contracts.errors import Fault
from fairtrial.contracts.protocols import Launch, LaunchRequest
from fairtrial.wire import jsonl

Json = dict[str, Any]
ONE_ARGUMENT = 128 * 1024 - 1  # bytes of one argument or variable; Linux refuses a longer one (MAX_ARG_STRLEN)
NO_KEY = "rehearsal"  # the key where the endpoint plays the model
_BELOW = r"^(home|workspace)(?!.*/\.\.?(?:/|$))/[^/\x00][^\x00]*$"


def options_schema(effort: Sequence[str] | None = None, **more: Json) -> Json:
    """JSON Schema of the options: bin, args and files for every program, effort where it has one, and `more`."""
    properties: Json = {
        "bin": {"type": "string", "minLength": 1, "description": "the program, by name or path"},
        "args": {"type": "array", "items": {"type": "string"}, "description": "more arguments, as they are"},
        "files": {
            "type": "object",
            "description": "text files to place: home/... or workspace/... -> content (skills, AGENTS.md, settings)",
            "propertyNames": {
                "pattern": _BELOW,
                "description": "a file is placed at home/PATH (the agent's HOME) or workspace/PATH, without `..`",
            },
            "additionalProperties": {"type": "string"},
        },
    }
    if effort is not None:
        properties["effort"] = {"enum": list(effort)} if effort else {"type": "string", "minLength": 1}
    return {"type": "object", "properties": {**properties, **more}, "additionalProperties": False}


RETRIES: Json = {
    "type": "integer",
    "minimum": 0,
    "maximum": 20,
    "description": "how often the program asks again after an error; low, so that a dead endpoint costs seconds",
}


def files(request: LaunchRequest, own: Mapping[str, bytes]) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """Files below HOME and below the workspace: the adapter's `own` below HOME, then the option's over them."""
    home: dict[str, bytes] = dict(own)
    workspace: dict[str, bytes] = {}
    for path, content in request.options.get("files", {}).items():
        top, _, rest = path.partition("/")
        (home if top == "home" else workspace)[rest] = content.encode("utf-8", "replace")
    return home, workspace


def ready(
    request: LaunchRequest,
    argv: Iterable[str],
    environment: Mapping[str, str],
    own: Mapping[str, bytes],
    **more: Any,
) -> Launch:
    """A Launch of checked words and variables, with the adapter's `own` files and those of the option `files`.

    `more`: other fields of Launch. Raises Fault('spawn') where Linux would refuse a word.
    """
    home, workspace = files(request, own)
    return Launch(
        argv=checked(argv, environment), env=dict(environment), home_files=home, workspace_files=workspace, **more
    )


def key(request: LaunchRequest, name: str, *, only: bool = True) -> dict[str, str]:
    """The environment that carries the key, under the name the program reads; empty for a login.

    `only`: the program knows no other name. Otherwise the key keeps its own unless a base URL stands in between.
    """
    if request.model.get("rehearsal"):
        return {name: NO_KEY}
    secrets = dict(request.secrets)
    if name not in secrets and len(secrets) == 1 and (only or base_url(request) is not None):
        return {name: next(iter(secrets.values()))}
    return secrets


def effort(request: LaunchRequest) -> str | None:
    """How hard the model is asked to think: the harness's option, else the model's."""
    wanted = request.options.get("effort") or (request.model.get("options") or {}).get("effort")
    return None if wanted is None else str(wanted)


def base_url(request: LaunchRequest) -> str | None:
    """Where the model is reached, without a trailing `/v1`: the endpoint, else the model's base_url, else None."""
    url = request.endpoint_url or request.model.get("base_url")
    return None if url is None else str(url).rstrip("/").removesuffix("/v1").rstrip("/")


def wire(request: LaunchRequest, known: Sequence[str]) -> str:
    """The protocol to speak: the model's when the program knows it, else the program's first. Raises Fault('spawn')."""
    wanted = request.model.get("wire")
    if wanted is None:
        return known[0]
    if wanted not in known:
        raise Fault("spawn", f"model {request.model['name']} speaks {wanted}; this program speaks {', '.join(known)}")
    return str(wanted)


def model_id(request: LaunchRequest, program: str) -> str:
    """The model's id, for programs that cannot start without one. Raises Fault('spawn')."""
    found = request.model.get("id")
    if not found:
        raise Fault("spawn", f"{program} needs a model: give model {request.model['name']} an id in models.yaml")
    return str(found)


def checked(argv: Iterable[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """argv, when every word and variable is short enough for Linux. Raises Fault('spawn')."""
    words = tuple(argv)
    for what, text in [*((f"argument {i}", w) for i, w in enumerate(words)), *environment.items()]:
        size = len(text.encode("utf-8", "surrogateescape"))
        if size > ONE_ARGUMENT:
            raise Fault("spawn", f"{what} has {size} bytes; one may have {ONE_ARGUMENT} (128 KiB less its end mark)")
        if "\0" in text:
            raise Fault("spawn", f"{what} holds a NUL byte, which no argument or variable can carry")
    return words


def prompt(request: LaunchRequest) -> bytes:
    """The prompt for standard input or a file; no limit but memory."""
    return request.prompt.encode("utf-8", "surrogateescape")


def to_json(value: Any) -> bytes:
    """A configuration file."""
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True).encode("utf-8", "replace") + b"\n"


def ends_with(*types: str) -> Callable[[bytes], bool]:
    """A test for the final event: a JSON object whose own `type` is one of `types`, wherever it stands in the line.

    Quotes inside strings are escaped, so the bytes looked for first cannot come from a tool's output.
    """
    marks = tuple(f'"{name}"'.encode() for name in types)

    def is_final_event(line: bytes) -> bool:
        if not line.startswith(b"{") or not any(mark in line for mark in marks):
            return False
        return (jsonl.parse_object(line) or {}).get("type") in types

    return is_final_event
