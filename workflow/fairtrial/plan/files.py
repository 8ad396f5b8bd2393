"""Folders as manifests: what is hashed into a recipe, frozen by content and placed again."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import Fault, UserError
from fairtrial.paths import Results

Manifest = list[dict[str, Any]]
CORRECTION = "corrections/corrected-verifier.json"  # in a task package: a published mistake of its verifier
FREEZE = "give the same snakemake command with --until plan --forcerun plan, then without"  # said of a lost object
_IGNORED = frozenset({"__pycache__", ".DS_Store", ".git"})


def manifest(folder: Path, *, skip: frozenset[str] = frozenset()) -> Manifest:
    """Every file below `folder`, sorted: path, mode (file, exec, link, dir), sha256 or target, bytes.

    A missing folder is an empty manifest. Empty folders are kept, caches and top-level names in `skip` are not.
    """
    entries: Manifest = []
    _collect(folder, "", entries, skip)
    return sorted(entries, key=lambda entry: entry["path"])


def _collect(folder: Path, prefix: str, entries: Manifest, skip: frozenset[str]) -> None:
    if not folder.is_dir():
        return
    found = [e for e in os.scandir(folder) if e.name not in _IGNORED and e.name not in skip]
    if not found and prefix:
        entries.append({"path": prefix.rstrip("/"), "mode": "dir"})
    for entry in found:
        path = prefix + entry.name
        if entry.is_symlink():
            target = str(Path(entry.path).readlink())
            entries.append({"path": path, "mode": "link", "sha256": None, "target": target})
        elif entry.is_dir():
            _collect(Path(entry.path), path + "/", entries, frozenset())
        else:
            entries.append(one_file(Path(entry.path), path))


def one_file(source: Path, path: str) -> dict[str, Any]:
    """The manifest entry of one regular file."""
    content = source.read_bytes()
    mode = "exec" if source.stat().st_mode & 0o100 else "file"
    return {"path": path, "mode": mode, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def freeze(results: Results, folder: Path, entries: Manifest) -> None:
    """Keep each file's content under objects/; a file that changed meanwhile is a UserError."""
    for entry in entries:
        if entry.get("sha256"):
            freeze_bytes(results, (folder / entry["path"]).read_bytes(), entry["sha256"], folder / entry["path"])


def freeze_bytes(results: Results, content: bytes, sha256: str, source: Path) -> None:
    """Keep one content under its digest."""
    blob = results.blob(sha256)
    if blob.exists():
        return
    if hashlib.sha256(content).hexdigest() != sha256:
        raise UserError(f"{source}: changed while the matrix was being planned; run the same command again")
    blob.parent.mkdir(parents=True, exist_ok=True)
    temporary = blob.with_name(f".{blob.name}.{os.getpid()}.tmp")
    temporary.write_bytes(content)
    temporary.rename(blob)


def place(results: Results, entries: Manifest, into: Path) -> None:
    """Lay frozen files out; what is not byte for byte what the manifest says is the fault `recipe_drift`."""
    into.mkdir(parents=True, exist_ok=True)
    made: set[Path] = set()
    for entry in entries:
        target = into / entry["path"]
        if target.parent not in made:
            target.parent.mkdir(parents=True, exist_ok=True)
            made.add(target.parent)
        if entry["mode"] == "dir":
            target.mkdir(exist_ok=True)
        elif entry["mode"] == "link":
            target.unlink(missing_ok=True)
            target.symlink_to(entry["target"])
        else:
            _place_file(results.blob(entry["sha256"]), entry, target)


def _place_file(blob: Path, entry: dict[str, Any], target: Path) -> None:
    try:
        content = blob.read_bytes()
    except FileNotFoundError:
        raise Fault("recipe_drift", f"{blob}: frozen file is missing; {FREEZE}") from None
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise Fault("recipe_drift", f"{blob}: frozen file was changed; delete it and {FREEZE}")
    if target.is_symlink():
        target.unlink()
    target.write_bytes(content)
    target.chmod(0o755 if entry["mode"] == "exec" else 0o644)


def text_digest(text: str) -> str:
    """sha256 of UTF-8 text."""
    return hashlib.sha256(text.encode()).hexdigest()
