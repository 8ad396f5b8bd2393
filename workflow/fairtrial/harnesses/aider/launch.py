"""Starts aider (0.86.2 was tried) with the prompt in a file.

It commits by itself, so the work is the difference to the starting commit. Retries last 60 seconds and cannot be
shortened. A prompt that starts with `/` or `!` is a command to it.
"""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Launch, LaunchRequest, Network
from fairtrial.harnesses.aider.events import LOG
from fairtrial.wire import install, starting

PROTOCOL = 1
SIMULATED = False
FREE = False
NEEDS_SOLUTION = False
CAPS: frozenset[str] = frozenset()
NETWORK: Network = "endpoint"
PACKAGE = "pip install aider-chat==0.86.2 in a virtual environment"
KEY_ENV = "OPENAI_API_KEY"
LOGIN_FILES: tuple[str, ...] = ()
PERSONAL = (".aider.conf.yml",)
OPTIONS: dict[str, Any] = starting.options_schema(
    effort=(),
    edit_format={"type": "string"},
    chat={"type": "array", "items": {"type": "string"}, "description": "files that are in the chat from the start"},
)
_KEYS = {"openai-chat": KEY_ENV, "anthropic": "ANTHROPIC_API_KEY"}
WIRES = tuple(_KEYS)
_FOLDER = ".config/fairtrial-aider"
_FLAGS = (
    "--yes-always", "--no-check-update", "--no-show-release-notes", "--no-show-model-warnings", "--no-pretty",
    "--no-stream", "--no-fancy-input", "--no-detect-urls", "--no-suggest-shell-commands", "--no-gitignore",
    "--no-analytics",
)  # fmt: skip


def launch(request: LaunchRequest) -> Launch:
    """argv, the prompt file and the virtual environment with its interpreter."""
    found = install.find("aider", request.options, PACKAGE)
    program = install.python_program(found, "aider.main", "main", request)
    environment = _environment(request)
    return starting.ready(
        request,
        [*program.argv, *_arguments(request)],
        environment,
        {f"{_FOLDER}/prompt.md": starting.prompt(request)},
        binds=program.binds,
        collect={LOG: f"{_FOLDER}/{LOG}"},
    )


def probe_version(options: dict[str, Any]) -> str | None:
    """The installed distribution's version; starting the program to ask takes seconds."""
    return install.distribution_version(install.find("aider", options, PACKAGE), "aider-chat")


def _arguments(request: LaunchRequest) -> list[str]:
    folder = f"{request.home}/{_FOLDER}"
    words = ["--model", _model(request), *_FLAGS, "--analytics-log", f"{folder}/{LOG}"]
    for name in ("input", "chat", "llm"):  # its histories stand in the workspace otherwise
        words += [f"--{name}-history-file", f"{folder}/{name}.history"]
    if (effort := starting.effort(request)) is not None:
        words += ["--reasoning-effort", effort]
    if request.options.get("edit_format"):
        words += ["--edit-format", request.options["edit_format"]]
    words += ["--message-file", f"{folder}/prompt.md", *request.options.get("args", [])]
    return [*words, *(word for name in request.options.get("chat", []) for word in ("--file", name))]


def _model(request: LaunchRequest) -> str:
    name = starting.model_id(request, "aider")
    if starting.base_url(request) is not None:
        return f"anthropic/{name}" if starting.wire(request, WIRES) == "anthropic" else f"openai/{name}"
    provider = request.model.get("provider")
    return f"{provider}/{name}" if provider and not name.startswith(f"{provider}/") else name


def _environment(request: LaunchRequest) -> dict[str, str]:
    url, wire = starting.base_url(request), starting.wire(request, WIRES)
    place = {"ANTHROPIC_API_BASE": url} if wire == "anthropic" else {"OPENAI_API_BASE": f"{url}/v1"}
    return {
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
        "AIDER_CHECK_UPDATE": "false",
        **({} if url is None else {name: str(value) for name, value in place.items()}),
        **starting.key(request, _KEYS[wire], only=False),
    }
