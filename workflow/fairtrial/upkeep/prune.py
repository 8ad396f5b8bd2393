"""Less evidence of graded attempts: what commands printed and the snapshots between start and end.

Never a seal, a result, the start or the final tree. pruned.json beside the seal names what was dropped, and the digest
of the rewritten snapshot pack, so that damage still shows. A pruned attempt stays sealed and is never run again.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairtrial.capture.spend.leases import holder
from fairtrial.contracts.clock import utc_now
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import dump, file_digest, load, mismatches, pruned_of
from fairtrial.instruments.snapshots.manifest import EXEC, FILE
from fairtrial.instruments.snapshots.store import Store
from fairtrial.paths import Attempt, Results

OUTPUT = "command-output/"
PACK = "snapshots/pack"
UNSCORED = "verifier_error"
STREAMS = ("agent-stdout.txt", "agent-stderr.txt", "agent-times.jsonl")
LOST = {
    "output": "what traced commands printed cannot be read again",
    "trees": "first green cannot be replayed by another verifier; only start and end can be restored",
    "streams": "the attempt cannot be graded again: its transcript is gone",
}


@dataclass(slots=True)
class Pruned:
    """What was done, or would be."""

    attempts: int = 0
    files: int = 0
    trees: int = 0
    freed: int = 0  # bytes
    skipped: dict[str, str] = field(default_factory=dict)  # attempt -> why it was left alone


def prune(results: Results, *, streams: bool = False, dry: bool = False) -> Pruned:
    """Prune every graded attempt. Ungraded ones are left alone; so are running, unscored and damaged ones, named."""
    done = Pruned()
    for attempt in results.attempts():
        if not attempt.evidence.exists() or not next(attempt.folder.glob("grades/*/result.json"), None):
            continue
        try:
            why = _kept_for(attempt)
            if why is None:
                _one(attempt, load(attempt.evidence), done, streams=streams, dry=dry)
        except UserError as error:
            why = f"cannot be read: {error}"
        if why is not None:
            done.skipped[str(attempt.id)] = why
    return done


def _kept_for(attempt: Attempt) -> str | None:
    """Why nothing of it may be dropped; None when it may. UserError: a record of it is not whole."""
    if holder(attempt.lease) is not None:
        return "is being run"
    verdicts = {_verdict(path) for path in attempt.folder.glob("grades/*/result.json")} - {None}
    if not verdicts:
        return "its result is not whole; a run that has anything to do grades it again, and needs all of it"
    if verdicts == {UNSCORED}:
        return f"is unscored, as its verifier failed; first: fairtrial regrade {attempt.id}"
    files = load(attempt.evidence).get("files")
    if not isinstance(files, dict):
        return "evidence.json is not a seal"
    wrong = mismatches(attempt.folder, files, *pruned_of(attempt.folder))
    return f"evidence is damaged: {wrong[0]}" if wrong else None


def _verdict(path: Path) -> str | None:
    """Of one grade; None when the record is not whole, such as after a power cut."""
    try:
        return str(load(path)["performance"]["correctness"]["verdict"])
    except (UserError, KeyError, TypeError):
        return None


def _one(attempt: Attempt, evidence: dict[str, Any], done: Pruned, *, streams: bool, dry: bool) -> None:
    names = [n for n in evidence["files"] if n.startswith(OUTPUT) or (streams and n in STREAMS)]
    names = sorted(n for n in names if (attempt.folder / n).is_file())
    dropped = intermediate(attempt.folder)
    if not names and not dropped:
        return
    done.attempts += 1
    done.files += len(names)
    done.trees += len(dropped)
    done.freed += sum((attempt.folder / n).stat().st_size for n in names)
    if not dry:
        done.freed += _drop(attempt, names, dropped)


def intermediate(folder: Path) -> list[str]:
    """Ids of the kept trees that are neither start nor end nor what ignored folders held."""
    if not (folder / PACK).is_file():
        return []
    record = load(folder / "snapshots.json")
    gone = _gone(folder)
    kept = {record["start"], record["end"], record.get("base")}
    return sorted({look["tree"] for look in record["looks"]} - kept - gone)


def _gone(folder: Path) -> set[str]:
    """Ids of the trees that an earlier prune took out of the pack; one killed before it replaced the pack took none."""
    if not (folder / "pruned.json").exists():
        return set()
    record = load(folder / "pruned.json")
    there = record["rewritten"].get(PACK, {}).get("sha256") == file_digest(folder / PACK)
    return set(record["trees"]) if there else set()


def _drop(attempt: Attempt, names: list[str], dropped: list[str]) -> int:
    """Announce first, then replace and delete: killed in between, verification accepts both states."""
    folder, fresh = attempt.folder, attempt.folder.with_name(f".{attempt.folder.name}.pruning")
    path = folder / "pruned.json"
    old = load(path) if path.exists() else {"files": [], "trees": [], "rewritten": {}}
    rewritten, before = dict(old["rewritten"]), 0
    if dropped:
        before = (folder / PACK).stat().st_size
        shutil.rmtree(fresh, ignore_errors=True)
        rewrite(folder, fresh)
        rewritten[PACK] = {"sha256": file_digest(fresh / "pack"), "bytes": (fresh / "pack").stat().st_size}
    record = {
        "schema_version": 1, "attempt_id": str(attempt.id), "at": utc_now(),
        "files": sorted({*old["files"], *names}), "trees": sorted({*old["trees"], *dropped}), "rewritten": rewritten,
    }  # fmt: skip
    record["lost"] = lost(record)
    dump(path, record)
    if dropped:
        (fresh / "pack").replace(folder / PACK)
        shutil.rmtree(fresh)
    for name in names:
        (folder / name).unlink(missing_ok=True)
    return before - rewritten[PACK]["bytes"] if dropped else 0


def lost(record: dict[str, Any]) -> list[str]:
    """What can no longer be done with a pruned attempt."""
    gone = {
        "output": any(name.startswith(OUTPUT) for name in record["files"]),
        "trees": bool(record["trees"]),
        "streams": any(name in STREAMS for name in record["files"]),
    }
    return [LOST[key] for key, is_gone in gone.items() if is_gone]


def rewrite(folder: Path, into: Path) -> None:
    """A pack in `into` that holds the start, the end and the base of the one in `folder`, nothing else."""
    record = load(folder / "snapshots.json")
    old, new = Store(folder / "snapshots"), Store(into)
    try:
        for tree_id in dict.fromkeys(t for t in (record.get("base"), record["start"], record["end"]) if t):
            tree = old.tree(tree_id)
            for mode, digest in tree.values():
                if mode in (FILE, EXEC) and digest not in new.pack:
                    new.pack.add(old.content(digest))
            new.keep(tree)
    finally:
        old.close()
        new.close()
