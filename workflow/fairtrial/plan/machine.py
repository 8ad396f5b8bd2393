"""What this machine lacks for a plan: programs, keys, logins. Said before money is permitted, not found out by faults.

An attempt on another node may find what is missing here, so these are warnings.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import Fault, UserError
from fairtrial.plan.config import Config, adapter_of


def lacks(config: Config, pairs: Iterable[tuple[str, str]]) -> list[str]:
    """One line for each thing that attempts of these (harness, model) pairs would be a fault without."""
    played: dict[str, bool] = {}
    for harness, model in pairs:
        played[harness] = played.get(harness, True) and bool(config.models[model].get("rehearsal"))
    said = []
    for harness, only_rehearsed in played.items():
        entry = config.harnesses[harness]
        found = [_program(entry), None if only_rehearsed else _key(entry), *_logins(entry)]
        said += [f"{harness}: {line}" for line in found if line]
    return said


def _program(entry: dict[str, Any]) -> str | None:
    try:
        version = adapter_of(entry).probe_version(entry.get("options", {}))
    except Fault as fault:
        return fault.message
    except UserError as error:
        return str(error)
    pinned = entry.get("version")
    return None if pinned in (None, version) else f"version {version} is installed, {pinned} is pinned"


def _key(entry: dict[str, Any]) -> str | None:
    name, file = entry.get("key_env", ""), entry.get("key_file")
    if entry.get("auth") != "key" or os.environ.get(name):
        return None
    if file is None:
        return f"{name} is not set; export it, or name a key_file"
    return None if Path(file).expanduser().is_file() else f"{name} is not set and key_file {file} does not exist"


def _logins(entry: dict[str, Any]) -> list[str]:
    if entry.get("auth") != "login":
        return []
    names = entry.get("login_files", getattr(adapter_of(entry), "LOGIN_FILES", ()))
    missing = [name for name in names if not (Path.home() / name).is_file()]
    return [f"~/{name} does not exist; log in with the program once, or correct login_files" for name in missing]
