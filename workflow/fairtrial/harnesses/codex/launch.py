"""Starts `codex exec` (0.169.0 was tried), its native binary directly, the prompt on standard input.

Its own sandbox is bypassed: inside a box every command of it fails, and it makes .git read-only. Login shells are
off, because /etc/profile resets PATH and would walk around the command trace. A refused endpoint is retried for
ever, whatever the switches say: then our clock ends it.
"""

from __future__ import annotations

import json
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
PACKAGE = "npm i -g @openai/codex@0.169.0"
KEY_ENV = "OPENAI_API_KEY"
WIRES = ("openai-responses",)
LOGIN_FILES = (".codex/auth.json",)
PERSONAL = (".codex/AGENTS.md", ".codex/prompts", ".codex/rules", ".codex/skills")
OPTIONS: dict[str, Any] = starting.options_schema(effort=(), retries=starting.RETRIES)
_NATIVE = ("@openai/codex-*/vendor/*/bin/codex", "@openai/codex/vendor/*/codex/codex")

is_final_event = starting.ends_with("turn.completed", "turn.failed")


def launch(request: LaunchRequest) -> Launch:
    """argv, config.toml and the vendored platform folder."""
    program = _shown(request)
    environment = {"CODEX_HOME": f"{request.home}/.codex", **starting.key(request, KEY_ENV)}
    return starting.ready(
        request,
        [*program.argv, *_arguments(request)],
        environment,
        {".codex/config.toml": _config(request).encode()},
        binds=program.binds,
        stdin=starting.prompt(request),
        is_final_event=is_final_event,
    )


def probe_version(options: dict[str, Any]) -> str | None:
    """What the binary itself says."""
    return install.version([str(_program(options))])


def _program(options: dict[str, Any]) -> Path:
    return install.native(install.find("codex", options, PACKAGE), "codex", _NATIVE)


def _shown(request: LaunchRequest) -> install.Program:
    program = _program(request.options)
    if program.parent.name == "bin" and (program.parent.parent / "codex-resources").is_dir():
        return install.in_folder(program, program.parent.parent, "codex", request)
    return install.one_file(program, "codex", request)


def _arguments(request: LaunchRequest) -> list[str]:
    words = ["exec", "--json", "--skip-git-repo-check", "--ephemeral", "-C", request.workspace]
    words += ["--dangerously-bypass-approvals-and-sandbox", "-c", "allow_login_shell=false"]
    for feature in ("plugins", "apps", "remote_plugin"):
        words += ["--disable", feature]
    return [*words, *request.options.get("args", []), "-"]


def _config(request: LaunchRequest) -> str:
    """config.toml; strings are written as JSON, which is TOML's basic string."""
    url, effort, retries = starting.base_url(request), starting.effort(request), request.options.get("retries", 3)
    starting.wire(request, WIRES)
    lines = ['approval_policy = "never"', "check_for_update_on_startup = false", 'web_search = "disabled"']
    if request.model.get("id"):
        lines.append(f"model = {json.dumps(request.model['id'])}")
    if effort is not None:
        lines.append(f"model_reasoning_effort = {json.dumps(effort)}")
    if url is not None:
        lines.append('model_provider = "fairtrial"')
    lines += ["[analytics]", "enabled = false", "[feedback]", "enabled = false"]
    lines += ["[history]", 'persistence = "none"', "[otel]", 'exporter = "none"']
    if url is not None:
        lines += ["[model_providers.fairtrial]", 'name = "fairtrial"', f"base_url = {json.dumps(url + '/v1')}"]
        lines += ['wire_api = "responses"', f"request_max_retries = {retries}", f"stream_max_retries = {retries}"]
        if starting.key(request, KEY_ENV):
            lines.append(f'env_key = "{KEY_ENV}"')
        else:
            lines.append("requires_openai_auth = true")
    return "\n".join(lines) + "\n"
