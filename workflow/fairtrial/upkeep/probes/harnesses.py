"""Doctor: the agent programs of config/harnesses.yaml, their keys and logins, and the way to their models."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fairtrial import registry
from fairtrial.contracts.errors import Fault, UserError
from fairtrial.contracts.schema import data_folder
from fairtrial.plan.config import read_yaml
from fairtrial.upkeep.finding import Finding

_PATIENCE = 2.0  # seconds for a provider to answer at all
# Megabytes on disk, measured with the versions of docs/harnesses.md on Linux x86-64; node and Python not counted.
_SIZES = {
    "claude": 235, "codex": 404, "opencode": 354, "mini_swe_agent": 750, "pi": 195, "gemini": 100, "qwen": 55,
    "aider": 800,
}  # fmt: skip
_HOSTS = {
    "ANTHROPIC_API_KEY": "https://api.anthropic.com",
    "OPENAI_API_KEY": "https://api.openai.com",
    "GEMINI_API_KEY": "https://generativelanguage.googleapis.com",
}


def probe() -> list[Finding]:
    """One finding per entry that starts a real program, one per place its model is at, one for our own endpoint."""
    config = _folder()
    try:
        entries, models = (read_yaml(config / f"{name}.yaml") for name in ("harnesses", "models"))
    except UserError as error:
        return [Finding("config", False, str(error), "correct the file")]
    found, keys = [], set()
    for name, entry in entries.items():
        adapter = str(entry.get("adapter", name)).replace("-", "_")
        try:
            launch: Any = registry.load("fairtrial.harnesses", adapter, "launch", "adapter")
        except UserError as error:
            found.append(Finding(name, False, str(error), f"correct {config / 'harnesses.yaml'}"))
            continue
        if hasattr(launch, "PACKAGE"):
            finding = _program(name, adapter, entry, launch)
            found.append(finding)
            keys |= {launch.KEY_ENV} if finding.ok else set()
    places = {_HOSTS[key] for key in keys if key in _HOSTS}
    if keys:  # without a program nobody asks there
        places |= {model["base_url"] for model in models.values() if model.get("base_url")}
    return [*found, *(_reachable(url) for url in sorted(places)), _own_endpoint()]


def _folder() -> Path:
    here = Path("config")
    return here if (here / "harnesses.yaml").is_file() else data_folder("schemas").parent / "config"


def _program(name: str, adapter: str, entry: dict[str, Any], launch: Any) -> Finding:
    """Installed? which version? is that the pinned one? could it log in?"""
    size = f"about {_SIZES[adapter]} MB" if adapter in _SIZES else "size unknown"
    try:
        version = launch.probe_version(entry.get("options", {}))
    except Fault as fault:
        ok = None if "options" not in entry or "bin" not in entry["options"] else False
        return Finding(name, ok, f"not installed ({launch.PACKAGE}; {size})", fault.message)
    pinned = entry.get("version")
    if pinned is not None and version != pinned:
        detail = f"version {version} is installed, {pinned} is pinned"
        return Finding(name, False, detail, f"install {pinned}, or change `version` in config/harnesses.yaml")
    known = f"version {version}" + (", as pinned" if pinned else ", not pinned")
    return Finding(name, True, f"{known}; {_access(entry, launch)}")


def _access(entry: dict[str, Any], launch: Any) -> str:
    """How it would get at a model; says names of variables and files, never a value."""
    auth = entry.get("auth", "none")
    if auth == "login":
        missing = [f for f in entry.get("login_files", launch.LOGIN_FILES) if not (Path.home() / f).is_file()]
        return f"not logged in (no ~/{', ~/'.join(missing)})" if missing else "logged in"
    if auth == "none":
        return "no key (enough for a rehearsal)"
    name = entry.get("key_env", launch.KEY_ENV)
    if os.environ.get(name):
        return f"key in {name}"
    file = entry.get("key_file")
    if file and Path(file).expanduser().is_file():
        return f"key in {file}"
    return f"no key in {name} (not needed for a rehearsal)"


def _reachable(url: str) -> Finding:
    """Does something answer there? Nothing is sent."""
    parts = urlsplit(url)
    port = parts.port or (80 if parts.scheme == "http" else 443)
    try:
        with socket.create_connection((parts.hostname or "", port), timeout=_PATIENCE):
            return Finding(f"{parts.hostname}:{port}", True, "reachable")
    except OSError as problem:
        why = f"not reachable from here: {problem}"
        return Finding(f"{parts.hostname}:{port}", None, why, "only needed for attempts that cost money")


def _own_endpoint() -> Finding:
    """Start the loopback endpoint's server and ask it once."""
    import http.client

    from fairtrial.instruments.endpoint.selfcheck import serving

    try:
        with serving() as port:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.request("GET", "/v1/models")
            status = connection.getresponse().status
            connection.close()
    except (OSError, Fault) as problem:
        return Finding("loopback endpoint", False, str(problem), "look at the message; reinstall fairtrial")
    works = status == 502  # there is no provider behind it, and it says so
    return Finding("loopback endpoint", works, "answers" if works else f"answers with {status}", "reinstall fairtrial")
