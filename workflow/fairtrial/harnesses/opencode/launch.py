"""Starts `opencode run` (1.18.33 was tried), its native binary directly, the prompt on standard input.

No switch for its retries was found: a refused endpoint costs about 85 seconds, unless our clock is shorter. It has
no terminal event (after a step that says "stop" a compaction may go on), so its end is the end of the process.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairtrial.contracts.protocols import Launch, LaunchRequest, Network
from fairtrial.wire import install, starting

PROTOCOL = 1
SIMULATED = False
FREE = False
NEEDS_SOLUTION = False
CAPS: frozenset[str] = frozenset()
NETWORK: Network = "endpoint"
PACKAGE = "npm i -g opencode-ai@1.18.33"
KEY_ENV = "OPENAI_API_KEY"
LOGIN_FILES = (".local/share/opencode/auth.json",)
PERSONAL = (
    ".config/opencode/AGENTS.md",
    ".config/opencode/agent",
    ".config/opencode/command",
    ".config/opencode/plugin",
)
OPTIONS: dict[str, Any] = starting.options_schema(effort=())
_NATIVE = ("opencode-ai/bin/opencode.exe", "opencode-linux-*/bin/opencode", "opencode-darwin-*/bin/opencode")
_WIRES = {
    "openai-chat": "@ai-sdk/openai-compatible",
    "openai-responses": "@ai-sdk/openai",
    "anthropic": "@ai-sdk/anthropic",
}
WIRES = tuple(_WIRES)
_OFF = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE", "CLAUDE_CODE")


def launch(request: LaunchRequest) -> Launch:
    """argv, opencode.json in a HOME of its own, and the one native binary."""
    program = install.one_file(_program(request.options), "opencode", request)
    environment = _environment(request)
    return starting.ready(
        request,
        [*program.argv, *_arguments(request)],
        environment,
        {".config/opencode/opencode.json": starting.to_json(_config(request))},
        binds=program.binds,
        stdin=starting.prompt(request),
    )


def probe_version(options: dict[str, Any]) -> str | None:
    """What the binary itself says."""
    return install.version([str(_program(options))])


def _program(options: dict[str, Any]) -> Path:
    return install.native(install.find("opencode", options, PACKAGE), "opencode", _NATIVE)


def _arguments(request: LaunchRequest) -> list[str]:
    words = ["run", "--format", "json", "--pure", "--auto", "--title", "task"]  # a title of its own costs a request
    if (model := _model(request)) is not None:
        words += ["-m", model]
    if (effort := starting.effort(request)) is not None:
        words += ["--variant", effort]
    return [*words, *request.options.get("args", [])]


def _model(request: LaunchRequest) -> str | None:
    name = request.model.get("id")
    if not name:
        return None
    provider = "fairtrial" if starting.base_url(request) else request.model.get("provider")
    return f"{provider}/{name}" if provider else str(name)


def _environment(request: LaunchRequest) -> dict[str, str]:
    folders = {"DATA": ".local/share", "CONFIG": ".config", "STATE": ".local/state", "CACHE": ".cache"}
    return {
        **{f"OPENCODE_DISABLE_{name}": "1" for name in _OFF},
        **{f"XDG_{name}_HOME": f"{request.home}/{folder}" for name, folder in folders.items()},
        "npm_config_offline": "true",
        **starting.key(request, KEY_ENV, only=False),
    }


def _config(request: LaunchRequest) -> dict[str, Any]:
    config: dict[str, Any] = {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "permission": "allow",
    }
    url, name = starting.base_url(request), request.model.get("id")
    if url is None or not name:
        return config
    settings = request.model.get("options") or {}
    limit = {"context": settings.get("context", 200_000), "output": settings.get("output", 32_000)}
    options: dict[str, Any] = {"baseURL": f"{url}/v1"}
    if starting.key(request, KEY_ENV, only=False):
        options["apiKey"] = f"{{env:{_key_name(request)}}}"
    provider = {
        "npm": _WIRES[starting.wire(request, WIRES)],
        "name": "fairtrial",
        "options": options,
        "models": {name: {"name": name, "limit": limit}},
    }
    full = f"fairtrial/{name}"
    return {
        **config,
        "enabled_providers": ["fairtrial"],
        "model": full,
        "small_model": full,
        "provider": {"fairtrial": provider},
    }


def _key_name(request: LaunchRequest) -> str:
    names = starting.key(request, KEY_ENV, only=False)
    return KEY_ENV if KEY_ENV in names else sorted(names)[0]
