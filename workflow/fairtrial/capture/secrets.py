"""What an attempt gets of its user: keys by name, copies of login files, own configuration only where asked for."""

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


def copy_login(recipe: dict[str, Any], settings: Settings, adapter: Any, home: Path) -> None:
    """Copy the credential files, those named or the program's own, into this attempt's HOME; none is written back."""
    harness = recipe["harness"]
    if harness["auth"] != "login":
        return
    named = settings.access.get(harness["name"], {}).get("login_files")
    for name in getattr(adapter, "LOGIN_FILES", ()) if named is None else named:
        source = Path.home() / name
        if not source.is_file():
            raise Fault("not_logged_in", f"{harness['name']}: ~/{name} does not exist; log in with the program once")
        target = home / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
        target.chmod(0o600)


def copy_personal(recipe: dict[str, Any], adapter: Any, home: Path) -> None:
    """With `isolate: false`: what the adapter's PERSONAL names of the user's own configuration; else nothing."""
    if recipe["harness"]["isolate"]:
        return
    import shutil

    for name in getattr(adapter, "PERSONAL", ()):
        source, target = Path.home() / name, home / name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            if source.is_dir():
                shutil.copytree(source, target, ignore_dangling_symlinks=True, dirs_exist_ok=True)
            elif source.is_file():
                shutil.copyfile(source, target)
        except (OSError, shutil.Error) as error:
            raise Fault("spawn", f"{recipe['harness']['name']}: ~/{name} cannot be copied: {error}") from None


def in_force(isolation: dict[str, Any], recipe: dict[str, Any]) -> dict[str, Any]:
    """The record of the box, which also says when the user's own configuration was let in."""
    if recipe["harness"]["isolate"]:
        return isolation
    said = f"isolate: false, {recipe['harness']['name']} used its user's own configuration"
    return {**isolation, "degraded": [*isolation["degraded"], said]}
