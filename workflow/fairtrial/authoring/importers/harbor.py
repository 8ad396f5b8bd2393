"""Harbor tasks (schema 1.4) whose environment needs no image.

<name>/instruction.md, task.toml, environment/, tests/test.sh, solution/solve.sh. Their container's places are rewritten
to ours: WORKDIR is the workspace, /tests lies beside the verifier, /logs/verifier in /tmp.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from fairtrial.authoring.importers._harbor_files import REWARD, workspace
from fairtrial.authoring.package import Package, Refused, slug, toml
from fairtrial.contracts.protocols import RUN, WORKSPACE

HELP = "Harbor tasks that need no image"
_NETWORK = re.compile(r"\b(?:apt|apt-get|apk|yum|dnf|curl|wget|uvx?|npm|npx|cargo add|git clone)\s|\bpip3? install\b")
_ABSENT: dict[str, Any] = {
    "environment.docker_image": None, "environment.allowed_hosts": [], "environment.gpus": 0,
    "verifier.env": {}, "verifier.user": None, "agent.user": None, "solution.env": {}, "steps": [],
}  # fmt: skip
_ALLOWED: dict[str, tuple[Any, ...]] = {
    "environment.os": (None, "linux"),
    "environment.network_mode": (None, "none", "no-network"),
    "verifier.environment_mode": (None, "shared"),
}


def folders(path: Path) -> list[Path]:
    """The task folders at or below `path`."""
    return [path] if (path / "instruction.md").is_file() else sorted(p.parent for p in path.glob("*/instruction.md"))


def read(folder: Path) -> Package:
    """One task as a package whose verifier turns the reward into an exit status. Raises Refused."""
    path = folder / "task.toml"
    if not path.is_file():
        raise Refused(str(path), "is missing")
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Refused(str(path), f"not valid TOML: {error}") from None
    _settings_allowed(path, text, raw)
    for name in ("tests/test.sh", "solution/solve.sh"):
        if not (folder / name).is_file():
            raise Refused(str(folder / name), "is missing; a task without it cannot be proven")
        _offline(folder / name)
    if (folder / "steps").is_dir():
        raise Refused(str(folder / "steps"), "tasks of several steps have no counterpart here")
    made = Package(slug(folder.name))
    workdir = workspace(folder, raw.get("environment", {}).get("workdir"), made)
    made.add(folder / "tests", "verifier/tests")
    made.add(folder / "solution", "solution")
    _rewrite(made, workdir)
    made.files |= _own_files(made.id, folder, raw, workdir)
    return made


def _settings_allowed(path: Path, text: str, raw: dict[str, Any]) -> None:
    for key, absent in _ABSENT.items():
        value = _at(raw, key)
        if value not in (None, absent):
            raise Refused(_line(path, text, key), f"{key} = {value!r} needs what a box does not give")
    for key, allowed in _ALLOWED.items():
        if _at(raw, key) not in allowed:
            raise Refused(_line(path, text, key), f"{key} = {_at(raw, key)!r}; allowed: {', '.join(allowed[1:])}")


def _at(raw: dict[str, Any], key: str) -> Any:
    value: Any = raw
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _line(path: Path, text: str, key: str) -> str:
    """path:line of a key, as far as a look at the text tells."""
    table, _, name = key.rpartition(".")
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*\[\[?([\w.]+)\]\]?", line)
        current = head[1] if head else current
        if (head and head[1] == key) or (current == table and re.match(rf"\s*{name}\s*=", line)):
            return f"{path}:{number}"
    return str(path)


def _offline(path: Path) -> None:
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        if not line.lstrip().startswith("#") and _NETWORK.search(line):
            raise Refused(f"{path}:{number}", f"{line.strip()!r} needs the network or an image's tools")


def _rewrite(made: Package, workdir: str) -> None:
    """The container's places in every text file of tests and solution."""
    for name, content in made.files.items():
        if name.startswith(("verifier/", "solution/")) and b"\0" not in content:
            text = places(content.decode("utf-8", "surrogateescape"), workdir)
            if name.startswith("solution/"):
                text = _place("/solution", text, '$(dirname "$0")')
            made.files[name] = text.encode("utf-8", "surrogateescape")


def places(text: str, workdir: str) -> str:
    """A text with the container's places replaced by the box's."""
    text = _place("/logs/verifier", text, "/tmp/logs/verifier")  # noqa: S108 (a file system of the box)
    text = _place("/tests", text, f"{RUN}/verifier/tests")
    return text if workdir == "/" else _place(workdir, text, WORKSPACE)


def _place(old: str, text: str, new: str) -> str:
    return re.sub(rf"(?<![\w./-]){re.escape(old)}(?![\w-])", lambda _: new, text)


def _own_files(task_id: str, folder: Path, raw: dict[str, Any], workdir: str) -> dict[str, bytes]:
    about = raw.get("task", {})
    settings = {
        "id": task_id,
        "title": about.get("description") or about.get("name") or task_id,
        "language": "unknown",
        "tags": ["imported", *map(str, about.get("keywords", []))],
        "wall_seconds": raw.get("agent", {}).get("timeout_sec", 600),
        "verifier": {
            "command": ["verify.py"], "format": "exit", "seconds": raw.get("verifier", {}).get("timeout_sec", 600),
        },
    }  # fmt: skip
    instruction = (folder / "instruction.md").read_text(encoding="utf-8", errors="replace")
    return {
        "task.toml": toml(settings),
        "prompt.md": places(instruction, workdir).encode(),
        "README.md": f"# {task_id}\n\nImported from a Harbor task; {workdir} became {WORKSPACE}.\n".encode(),
        "verifier/verify.py": REWARD.encode(),
    }
