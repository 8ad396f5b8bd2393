"""The seal: evidence.json, written last, with the digest of every side file. It is the truth about what was paid."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import file_digest, load, pretty, sync_folder, with_seal, write_bytes
from fairtrial.paths import Attempt

_NOT_SEALED = frozenset({"evidence.json", "sealed", "redo.json", "exclude.json", "pruned.json"})


def is_sealed(attempt: Attempt) -> bool:
    """Is there a whole seal of this very attempt? A torn or foreign one is a UserError naming `redo`."""
    if not attempt.evidence.exists():
        return False
    try:
        record = json.loads(attempt.evidence.read_bytes())
        same = record["attempt_id"] == str(attempt.id)
    except (ValueError, KeyError, TypeError):
        same = False
    if not same:
        raise UserError(f"{attempt.evidence}: is not the seal of this attempt; {_redo(attempt)}")
    return True


def _redo(attempt: Attempt) -> str:
    return f"to set it aside and pay again: fairtrial redo {attempt.id} --reason '...'"


def refuse_if_paid(attempt: Attempt, ledger_says_paid: bool) -> None:
    """No seal, but a whole grade or the ledger says it was paid: never run it again by itself."""
    graded = next(filter(_is_whole, (attempt.folder / "grades").glob("*/result.json")), None)
    if graded is not None or ledger_says_paid:
        proof = graded or "the ledger"
        raise UserError(f"{attempt.id}: its seal is gone, but {proof} says that it was paid; {_redo(attempt)}")


def _is_whole(path: Path) -> bool:
    try:
        return bool(load(path))
    except UserError:
        return False


def republish(attempt: Attempt) -> None:
    """Write the declared output again. Whether evidence.json is still what was sealed is for grading to see: `seal`."""
    line = file_digest(attempt.evidence) + "\n"
    if not attempt.sealed.exists() or attempt.sealed.read_text() != line:
        write_bytes(attempt.sealed, line.encode())


def side_files(folder: Path) -> list[Path]:
    """The files a seal covers, sorted."""
    found = []
    for top, folders, files in os.walk(folder):
        if top == str(folder):
            folders[:] = [name for name in folders if name != "grades"]
        folders.sort()
        found += [Path(top, name) for name in files if not (top == str(folder) and name in _NOT_SEALED)]
    return sorted(found)


def write_seal(evidence_folder: Path, attempt: Attempt, record: dict[str, Any]) -> None:
    """Digest and sync every side file, write evidence.json, move the folder into place, publish `sealed`."""
    digests = {}
    for path in side_files(evidence_folder):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
        name = str(path.relative_to(evidence_folder))
        digests[name] = {"sha256": file_digest(path), "bytes": path.stat().st_size}
    sealed = with_seal({**record, "files": digests})
    write_bytes(evidence_folder / "evidence.json", pretty(sealed))
    _move_into_place(evidence_folder, attempt)
    republish(attempt)


def _move_into_place(evidence_folder: Path, attempt: Attempt) -> None:
    """One rename where the target is empty; leftovers without a seal (never paid) are replaced."""
    import shutil

    attempt.folder.parent.mkdir(parents=True, exist_ok=True)
    kept = {}
    if attempt.folder.exists():
        kept = {p.name: p.read_bytes() for p in (attempt.exclude,) if p.exists()}
        shutil.rmtree(attempt.folder)
    evidence_folder.rename(attempt.folder)
    for name, content in kept.items():
        write_bytes(attempt.folder / name, content)
    sync_folder(attempt.folder.parent)
