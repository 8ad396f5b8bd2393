"""Starts mini-swe-agent (2.4.6 was tried) with the task, the model and the caps in one configuration file.

Its own dollar cap needs a price that litellm knows, so it does not count as one: the endpoint has it as well.
"""

from __future__ import annotations

import json
import re
from typing import Any

from fairtrial.contracts.protocols import Launch, LaunchRequest, Network
from fairtrial.harnesses.mini_swe_agent.events import TRAJECTORY
from fairtrial.wire import install, starting

PROTOCOL = 1
SIMULATED = False
FREE = False
NEEDS_SOLUTION = False
CAPS: frozenset[str] = frozenset({"turns"})
NETWORK: Network = "endpoint"
PACKAGE = "pip install mini-swe-agent==2.4.6 in a virtual environment"
KEY_ENV = "OPENAI_API_KEY"
LOGIN_FILES: tuple[str, ...] = ()
OPTIONS: dict[str, Any] = starting.options_schema(effort=(), retries=starting.RETRIES)
_KEYS = {"openai-chat": KEY_ENV, "anthropic": "ANTHROPIC_API_KEY"}
WIRES = tuple(_KEYS)
_FOLDER = ".config/mini-swe-agent"


def launch(request: LaunchRequest) -> Launch:
    """argv, the configuration file and the virtual environment with its interpreter."""
    found = install.find("mini", request.options, PACKAGE)
    program = install.python_program(found, "minisweagent.run.mini", "app", request)
    environment = _environment(request)
    task = f"{_FOLDER}/task.yaml"
    arguments = ["-y", "--exit-immediately", "-o", f"{request.home}/{_FOLDER}/{TRAJECTORY}"]
    arguments += ["-c", "mini.yaml", "-c", f"{request.home}/{task}", *request.options.get("args", [])]
    return starting.ready(
        request,
        [*program.argv, *arguments],
        environment,
        {task: _yaml(_config(request))},
        binds=program.binds,
        collect={TRAJECTORY: f"{_FOLDER}/{TRAJECTORY}"},
    )


def probe_version(options: dict[str, Any]) -> str | None:
    """The installed distribution's version; starting the program to ask takes seconds."""
    return install.distribution_version(install.find("mini", options, PACKAGE), "mini-swe-agent")


def _wire(request: LaunchRequest) -> str:
    return starting.wire(request, WIRES)


def _config(request: LaunchRequest) -> dict[str, Any]:
    name = starting.model_id(request, "mini-swe-agent")
    url, effort = starting.base_url(request), starting.effort(request)
    arguments: dict[str, Any] = {} if effort is None else {"reasoning_effort": effort}
    if url is None:
        provider = request.model.get("provider")
        full = f"{provider}/{name}" if provider and not name.startswith(f"{provider}/") else name
    elif _wire(request) == "anthropic":
        full, arguments["api_base"] = f"anthropic/{name}", url
    else:
        full, arguments["api_base"] = f"openai/{name}", f"{url}/v1"
    return {
        "run": {"task": request.prompt},
        "agent": {"step_limit": request.budget.turns or 0, "cost_limit": request.budget.usd or 0.0},
        "model": {"model_name": full, "model_kwargs": arguments},
    }


def _environment(request: LaunchRequest) -> dict[str, str]:
    return {
        "MSWEA_GLOBAL_CONFIG_DIR": f"{request.home}/{_FOLDER}",
        "MSWEA_CONFIGURED": "true",
        "MSWEA_SILENT_STARTUP": "1",
        "MSWEA_COST_TRACKING": "ignore_errors",
        "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": str(request.options.get("retries", 1) + 1),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_TELEMETRY": "False",
        **starting.key(request, _KEYS[_wire(request)], only=False),
    }


def _yaml(value: Any) -> bytes:
    """JSON that is YAML as well: every character outside printable ASCII escaped the way YAML knows."""

    def escaped(found: re.Match[str]) -> str:
        code = ord(found.group())
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"

    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r"[^\x20-\x7e]", escaped, text).encode() + b"\n"
