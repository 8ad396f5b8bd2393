"""Starts pi (0.74.2 was tried) with node, the prompt on standard input (it drops blanks around it)."""

from __future__ import annotations

from typing import Any

from fairtrial.contracts.protocols import Launch, LaunchRequest, Network
from fairtrial.wire import get, install, jsonl, starting

PROTOCOL = 1
SIMULATED = False
FREE = False
NEEDS_SOLUTION = False
CAPS: frozenset[str] = frozenset()
NETWORK: Network = "endpoint"
PACKAGE = "npm i -g @earendil-works/pi-coding-agent@0.74.2"
KEY_ENV = "OPENAI_API_KEY"
LOGIN_FILES = (".pi/agent/auth.json",)
PERSONAL = (
    ".pi/agent/AGENTS.md",
    ".pi/agent/extensions",
    ".pi/agent/prompts",
    ".pi/agent/skills",
)
OPTIONS: dict[str, Any] = starting.options_schema(
    effort=("off", "minimal", "low", "medium", "high", "xhigh"),
    retries=starting.RETRIES,
    node={"type": "string", "description": "Node.js to run it with"},
)
_WIRES = {
    "openai-chat": "openai-completions",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic-messages",
}
WIRES = tuple(_WIRES)
_FOLDER = ".pi/agent"


def is_final_event(line: bytes) -> bool:
    """`agent_end` after an answer, or the end of its retries: after an error `agent_end` may be followed by more."""
    if not line.startswith((b'{"type":"agent_end"', b'{"type":"auto_retry_end"')):
        return False
    value = jsonl.parse_object(line) or {}
    if value.get("type") == "auto_retry_end":
        return get.flag(value, "success") is False
    return get.text(value, "messages", -1, "stopReason") in ("stop", "length")


def launch(request: LaunchRequest) -> Launch:
    """argv, settings and model files, node and the package's node_modules."""
    found = install.find("pi", request.options, PACKAGE)
    program = install.node_program(found, "pi", request, request.options)
    environment = {
        "PI_CODING_AGENT_DIR": f"{request.home}/{_FOLDER}",
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
        "PI_SKIP_VERSION_CHECK": "1",
        **starting.key(request, KEY_ENV, only=False),
    }
    return starting.ready(
        request,
        [*program.argv, *_arguments(request)],
        environment,
        _files(request),
        binds=program.binds,
        stdin=starting.prompt(request),
        is_final_event=is_final_event,
    )


def probe_version(options: dict[str, Any]) -> str | None:
    """The package's version; starting node to ask takes seconds."""
    return install.package_version(install.find("pi", options, PACKAGE))


def _arguments(request: LaunchRequest) -> list[str]:
    words = ["--mode", "json", "-p", "--no-session"]
    provider = "fairtrial" if starting.base_url(request) else request.model.get("provider")
    if request.model.get("id"):
        words += [*(["--provider", provider] if provider else []), "--model", str(request.model["id"])]
    if (effort := starting.effort(request)) is not None:
        words += ["--thinking", effort]
    return [*words, *request.options.get("args", [])]


def _files(request: LaunchRequest) -> dict[str, bytes]:
    retries = request.options.get("retries", 3)
    retry = {"enabled": retries > 0, "maxRetries": retries, "baseDelayMs": 500, "provider": {"maxRetries": 0}}
    files = {f"{_FOLDER}/settings.json": starting.to_json({"retry": retry, "quietStartup": True})}
    url, name = starting.base_url(request), request.model.get("id")
    if url is not None and name:
        settings = request.model.get("options") or {}
        wire = starting.wire(request, WIRES)
        model = {
            "id": name,
            "contextWindow": settings.get("context", 200_000),
            "maxTokens": settings.get("output", 32_000),
            "reasoning": starting.effort(request) not in (None, "off"),
        }
        provider = {
            "baseUrl": url if wire == "anthropic" else f"{url}/v1",
            "api": _WIRES[wire],
            "apiKey": KEY_ENV,  # the name of the variable, not the key
            "models": [model],
        }
        files[f"{_FOLDER}/models.json"] = starting.to_json({"providers": {"fairtrial": provider}})
    return files
