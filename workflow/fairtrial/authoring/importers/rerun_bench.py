"""rerun-bench task folders (0.3.0): <id>/task.toml, workspace/, verify.py, solution/."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from fairtrial.authoring.package import Package, Refused, slug, toml

HELP = "rerun-bench task folders"
NEEDED: dict[str, tuple[type, ...]] = {"id": (str,), "title": (str,), "prompt": (str,), "timeout": (int, float)}


def folders(path: Path) -> list[Path]:
    """The task folders at or below `path`."""
    return [path] if (path / "task.toml").is_file() else sorted(p.parent for p in path.glob("*/task.toml"))


def read(folder: Path) -> Package:
    """One task as a package whose verifier's exit status is the verdict. Raises Refused."""
    path = folder / "task.toml"
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Refused(str(path), f"not valid TOML: {error}") from None
    _look(path, raw)
    for name in ("verify.py", "workspace"):
        if not (folder / name).exists():
            raise Refused(str(folder / name), "is missing; rerun-bench needs it")
    made = Package(slug(raw["id"]))
    made.files = {
        "task.toml": toml(_settings(made.id, raw)),
        "prompt.md": raw["prompt"].encode(),
        "README.md": f"# {made.id}\n\nImported from a rerun-bench task folder ({raw['id']}).\n".encode(),
        "verifier/verify.py": (folder / "verify.py").read_bytes(),
    }
    for name in ("workspace", "solution"):
        if (folder / name).is_dir():
            made.add(folder / name, name)
    return made


def _look(path: Path, raw: dict[str, Any]) -> None:
    for key, kinds in NEEDED.items():
        value = raw.get(key)
        if not isinstance(value, kinds) or isinstance(value, bool):
            said = "is missing" if key not in raw else f"is {value!r}"
            raise Refused(f"{path}: {key}", f"{said}; it must be {'a number' if float in kinds else 'text'}")
    if raw["timeout"] <= 0:
        raise Refused(f"{path}: timeout", f"is {raw['timeout']!r}; it must be above 0")


def _settings(task_id: str, raw: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": task_id,
        "title": raw["title"],
        "language": "unknown",
        "tags": ["imported", *map(str, raw.get("tags", []))],
        "wall_seconds": raw["timeout"],
        "verifier": {"command": ["verify.py"], "format": "exit", "seconds": raw.get("verify_timeout", 60)},
    }
