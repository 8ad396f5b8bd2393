"""What is kept beside the sealed attempts, as text: faults, and attempts that `fairtrial redo` set aside."""

from __future__ import annotations

import re
from pathlib import Path

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import load
from fairtrial.paths import Attempt, Results
from fairtrial.wire.captured import STDERR

PLACE = re.compile(r"(?:(.*)/)?(faults|redone)/((?:[^/]+/){5}r[0-9]+)(?:/([^/]+))?(?:/.*)?")
LINES, WIDTH, READ = 10, 300, 1 << 16  # of the end of standard error: lines, characters of one, bytes looked at
LISTED = 10  # earlier faults of an attempt; the rest is counted


def folders(given: str, results: Path) -> list[Path]:
    """The folders that a path below faults/ or redone/ means: one, or all of its attempt; [] for any other text."""
    found = PLACE.fullmatch(given.strip().rstrip("/"))
    if found is None:
        return []
    root, kind, attempt_id, at = found.groups()
    place = (results if root is None else Path(root or "/")) / kind / attempt_id
    chosen = [place / at] if at else sorted(place.glob("*"))
    there = [folder for folder in chosen if folder.is_dir()]
    if not there:
        gone = place / at if at else place
        raise UserError(f"{gone}: no such folder; `fairtrial show {attempt_id}` lists what is kept")
    return there


def beside(attempt: Attempt) -> list[Path]:
    """Folders of an attempt's faults and of what was set aside of it, oldest first of each."""
    results = Results(attempt.folder.parents[6])
    records = [*results.faults(attempt.id).glob("*/fault.json"), *results.redone(attempt.id).glob("*/redo.json")]
    return [path.parent for path in sorted(records)]


def listed(attempt: Attempt) -> list[str]:
    """One line for each of these, the newest ones when there are many."""
    found = beside(attempt)
    lines = [f"earlier    {_short(folder)}  {folder}" for folder in found[-LISTED:]]
    return ([f"earlier    {len(found) - LISTED} more"] if len(found) > LISTED else []) + lines


def _short(folder: Path) -> str:
    try:
        record = load(record_file(folder))
        if "kind" in record:
            return f"fault {record['ended_at']} {record['kind']}: {record['message'][:100]}"
        return f"set aside {record['at']}: {record['reason'][:100]}"
    except (UserError, KeyError, TypeError):
        return "its record cannot be read"


def fault(folder: Path) -> list[str]:
    """One fault: kind, message, when, cost."""
    record = load(folder / "fault.json", "fault")
    ran = "was not started" if record["agent_seconds"] is None else f"{record['agent_seconds']:.2f} s"
    source = f" ({record['cost_source']})" if record["cost_source"] else ""
    return [
        record["attempt_id"] + ("  (simulated)" if record["simulated"] else ""),
        f"fault      {record['kind']}: {record['message']}",
        f"when       {record['started_at']} to {record['ended_at']}, agent {ran}",
        f"cost       {dollars(record['cost_usd'])}{source}",
        f"evidence   {folder}",
    ]


def redone(folder: Path) -> list[str]:
    """Why and when an attempt was set aside."""
    record = load(folder / "redo.json", "redo")
    return [f"set aside  {record['at']}: {record['reason']}", f"had cost   {dollars(record['cost_usd'])}"]


def dollars(usd: float | None) -> str:
    """An amount, or that nobody said one."""
    return "not said" if usd is None else f"{usd:.4f} USD"


def stderr_end(folder: Path) -> list[str]:
    """The last lines of the agent's standard error; [] when there are none."""
    try:
        with (folder / STDERR).open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(max(0, size - READ))
            text = stream.read().decode("utf-8", "replace")
    except OSError:
        return []
    lines = [line.rstrip() for line in text.split("\n") if line.strip()][-LINES:]
    return [f"stderr     ends, in {folder / STDERR}:", *(f"  {line[:WIDTH]}" for line in lines)] if lines else []


def record_file(folder: Path) -> Path:
    """fault.json or redo.json."""
    return folder / ("fault.json" if (folder / "fault.json").exists() else "redo.json")
