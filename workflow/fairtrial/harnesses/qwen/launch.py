"""Starts qwen-code (0.15.10 was tried) with node, the prompt on standard input.

A prompt's `@path` is expanded by the program itself, as it would be for a person. After status 429 it asks again
for as long as it is let: then our clock ends it. Its seven tries at a server error last 75 seconds; no switch is known.
"""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Launch, LaunchRequest, Network
from fairtrial.wire import install, starting

PROTOCOL = 2
SIMULATED = False
FREE = False
NEEDS_SOLUTION = False
CAPS: frozenset[str] = frozenset({"turns"})
NETWORK: Network = "endpoint"
PACKAGE = "npm i -g @qwen-code/qwen-code@0.15.10"
KEY_ENV = "OPENAI_API_KEY"
WIRES = ("openai-chat",)
LOGIN_FILES = (".qwen/oauth_creds.json",)
PERSONAL = (".qwen/QWEN.md", ".qwen/commands", ".qwen/extensions")
OPTIONS: dict[str, Any] = starting.options_schema(node={"type": "string", "description": "Node.js to run it with"})

is_final_event = starting.ends_with("result")


def launch(request: LaunchRequest) -> Launch:
    """argv, settings.json, node and the package's node_modules."""
    starting.wire(request, WIRES)
    found = install.find("qwen", request.options, PACKAGE)
    program = install.node_program(found, "qwen", request, request.options)
    environment = _environment(request)
    return starting.ready(
        request,
        [*program.argv, *_arguments(request)],
        environment,
        {".qwen/settings.json": starting.to_json(_settings(request))},
        binds=program.binds,
        stdin=starting.prompt(request),
        is_final_event=is_final_event,
    )


def probe_version(options: dict[str, Any]) -> str | None:
    """The package's version; starting node to ask takes seconds."""
    return install.package_version(install.find("qwen", options, PACKAGE))


def _arguments(request: LaunchRequest) -> list[str]:
    words = ["-o", "stream-json", "--yolo"]
    if starting.key(request, KEY_ENV):
        words += ["--auth-type", "openai"]
    if request.model.get("id"):
        words += ["-m", str(request.model["id"])]
    if request.budget.turns is not None:
        words += ["--max-session-turns", str(request.budget.turns)]
    return [*words, *request.options.get("args", [])]


def _environment(request: LaunchRequest) -> dict[str, str]:
    url, name = starting.base_url(request), request.model.get("id")
    return {
        "QWEN_HOME": f"{request.home}/.qwen",
        "QWEN_TELEMETRY_ENABLED": "0",
        "QWEN_CODE_NO_RELAUNCH": "true",  # no child of its own for a larger heap
        "NO_UPDATE_NOTIFIER": "1",
        **({} if url is None else {"OPENAI_BASE_URL": f"{url}/v1"}),
        **({} if not name else {"OPENAI_MODEL": str(name)}),
        **starting.key(request, KEY_ENV),
    }


def _settings(request: LaunchRequest) -> dict[str, Any]:
    return {
        "general": {"disableAutoUpdate": True},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "model": {"generationConfig": {"maxRetries": 0}},
    }
