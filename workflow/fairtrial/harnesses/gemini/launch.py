"""Starts gemini-cli (0.61.0 was tried) with node, the prompt on standard input.

A prompt's `@path` is expanded by the program itself, as it would be for a person. A wrapper starts a child and
ignores SIGTERM; only the end of the whole box ends both.
"""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Launch, LaunchRequest, Network
from fairtrial.wire import install, starting

PROTOCOL = 1
SIMULATED = False
FREE = False
NEEDS_SOLUTION = False
CAPS: frozenset[str] = frozenset({"turns"})
NETWORK: Network = "endpoint"
PACKAGE = "npm i -g @google/gemini-cli@0.61.0"
KEY_ENV = "GEMINI_API_KEY"
WIRES = ("gemini",)
LOGIN_FILES = (".gemini/oauth_creds.json", ".gemini/google_accounts.json")
PERSONAL = (".gemini/GEMINI.md", ".gemini/commands", ".gemini/extensions")
OPTIONS: dict[str, Any] = starting.options_schema(
    retries=starting.RETRIES, node={"type": "string", "description": "Node.js to run it with"}
)

is_final_event = starting.ends_with("result")


def launch(request: LaunchRequest) -> Launch:
    """argv, settings.json, node and the package's node_modules."""
    starting.wire(request, WIRES)
    found = install.find("gemini", request.options, PACKAGE)
    program = install.node_program(found, "gemini", request, request.options)
    environment = _environment(request)
    words = ["-o", "stream-json", "--yolo"]
    if request.model.get("id"):
        words += ["-m", str(request.model["id"])]
    return starting.ready(
        request,
        [*program.argv, *words, *request.options.get("args", [])],
        environment,
        {".gemini/settings.json": starting.to_json(_settings(request))},
        binds=program.binds,
        stdin=starting.prompt(request),
        is_final_event=is_final_event,
    )


def probe_version(options: dict[str, Any]) -> str | None:
    """The package's version; starting node to ask takes seconds."""
    return install.package_version(install.find("gemini", options, PACKAGE))


def _environment(request: LaunchRequest) -> dict[str, str]:
    url = starting.base_url(request)
    return {
        "GEMINI_TELEMETRY_ENABLED": "false",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",  # no child of its own for a larger heap
        **({} if url is None else {"GOOGLE_GEMINI_BASE_URL": url}),
        **starting.key(request, KEY_ENV),
    }


def _settings(request: LaunchRequest) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "general": {"maxAttempts": request.options.get("retries", 2) + 1, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    if starting.key(request, KEY_ENV):
        settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    if request.budget.turns is not None:
        settings["model"] = {"maxSessionTurns": request.budget.turns}
    return settings
