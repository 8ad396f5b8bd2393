"""Secrets by name: keys from the environment or a private file, login files copied per attempt."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.contracts.errors import Fault


def secrets_for(recipe: dict[str, Any], settings: Settings) -> dict[str, str]:
    """Name to value of the keys this harness is given; a missing one is the fault `not_logged_in`.

    The value never stands in argv, a log or a record: it goes into the environment of the box only.
    """
    harness = recipe["harness"]
    access = settings.access.get(harness["name"], {})
    if harness["auth"] != "key" or recipe["model"]["rehearsal"]:
        return {}
    name = access.get("key_env")
    if not name:
        raise Fault(
            "not_logged_in", f"{harness['name']}: auth is key, but key_env names no variable (config/harnesses.yaml)"
        )
    value = os.environ.get(name) or _from_file(access.get("key_file"), harness["name"])
    if not value:
        raise Fault("not_logged_in", f"{harness['name']}: {name} is not set; export it, or name a key_file")
    return {name: value}


def _from_file(given: str | None, harness: str) -> str | None:
    if given is None:
        return None
    path = Path(given).expanduser()
    try:
        mode = path.stat().st_mode & 0o777
    except OSError:
        raise Fault("not_logged_in", f"{harness}: key_file {given} cannot be read") from None
    if mode & 0o077:
        raise Fault(
            "not_logged_in", f"{harness}: key_file {given} has mode {mode:04o}; others can read it: chmod 600 it"
        )
    return path.read_text(encoding="utf-8").strip()


def copy_login(recipe: dict[str, Any], settings: Settings, home: Path) -> None:
    """Copy the named credential files into this attempt's HOME; nothing is ever written back."""
    harness = recipe["harness"]
    if harness["auth"] != "login":
        return
    for name in settings.access.get(harness["name"], {}).get("login_files", []):
        source = Path.home() / name
        if not source.is_file():
            raise Fault("not_logged_in", f"{harness['name']}: ~/{name} does not exist; log in with the program once")
        target = home / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        target.chmod(0o600)
