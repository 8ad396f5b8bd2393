"""What the ledger's records add up to, by start and by experiment.

A reservation is refused or allowed on the sum of all records, so a long matrix would read each of them for each of
its attempts. A folder of the ledger (one an attempt) that has come to rest is therefore read once: its sums stand in
`.sums.json` beside the folders, with the folder's time of change. That file is derived; without it everything is read.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import lean
from fairtrial.paths import Results

REST_SECONDS = 5.0  # unchanged for so long by the disk's own clock: a later record gives it another time of change
WORTH = 64  # folders newly at rest before `.sums.json` is written again
SUMS = ".sums.json"
KEYS = frozenset({"token", "attempt_id", "experiment", "kind", "usd", "fault"})  # of a record, as far as it is read
Parts = tuple[float, float, int, float, int, int]  # the fields of a Balance


@lean
class Start:
    """One start of an agent as the ledger tells it. US dollars; None: unknown."""

    token: str
    attempt_id: str
    experiment: str
    bound: float | None = None
    usd: float | None = None
    source: str | None = None
    settled: bool = False
    released: bool = False
    fault: str | None = None

    @property
    def counted(self) -> float:
        """What it takes from the cap: its cost, else its bound, else nothing that can be said."""
        if self.released:
            return 0.0
        return self.usd if self.usd is not None else (self.bound or 0.0)


@lean(frozen=True)
class Balance:
    """Sums over an experiment, US dollars."""

    known: float  # settled with a cost
    at_bound: float  # settled without a cost, counted at the bound
    unknown: int  # how many were settled without a cost
    open: float  # reserved by attempts that run
    running: int
    unbounded: int = 0  # without a cost and without a bound: started when no cap asked for one, or not recorded

    @property
    def counted(self) -> float:
        """What the cap is compared with, as far as it has a number."""
        return self.known + self.at_bound + self.open

    def guessed(self, usd: float | None) -> float:
        """What starts without a cost and a bound take from a cap: as much each as one of now may (`usd`)."""
        return self.unbounded * (usd or 0.0)


def entry(path: Path) -> dict[str, Any]:
    """One record; UserError when it is not whole: what it says is money, so it is not passed over."""
    try:
        record: Any = json.loads(path.read_bytes())
    except ValueError:
        record = None
    if not isinstance(record, dict) or not record.keys() >= KEYS:
        raise UserError(
            f"{path}: a ledger record that cannot be read, so what was spent is not known; put it back from a backup, "
            "or move it away: the next run then settles that attempt again, by its sealed evidence or at its bound"
        )
    return record


def starts(folder: Path, drawer: str = "*") -> dict[str, Start]:
    """Every start by token, from the records below one experiment's (or every experiment's) ledger folder."""
    found: dict[str, Start] = {}
    for path in sorted(folder.glob(f"{drawer}/*.json"), key=lambda p: p.name):
        record = entry(path)
        start = found.setdefault(record["token"], Start(record["token"], record["attempt_id"], record["experiment"]))
        if record["kind"] == "reserve":
            start.bound = record["usd"]
        elif record["kind"] == "release":
            start.released = True
        else:
            start.settled = True
            start.fault = record["fault"]
            if record["usd"] is not None:  # a second word about the same start may know more
                start.usd, start.source = max(record["usd"], start.usd or 0.0), record["source"]
    return found


def balance(results: Results, experiment: str, *, remember: bool = False) -> Balance:
    """Sums of one experiment. `remember`: write down the sums of folders at rest, under the ledger's lock."""
    folder = results.ledger(experiment)
    before, parts, read = _remembered(folder), [], {}
    now = _disk_time(folder) if remember else 0.0
    for drawer in sorted(_drawers(folder), key=lambda e: e.name):
        changed = drawer.stat().st_mtime_ns
        known = before.get(drawer.name)
        if known is not None and known[0] == changed:
            parts.append(known[1])
            continue
        parts.append(_parts(starts(folder, drawer.name)))
        if changed < (now - REST_SECONDS) * 1e9:
            read[drawer.name] = (changed, parts[-1])
    if remember and len(read) >= WORTH:
        _remember(folder, {**before, **read})
    sums = [sum(column) for column in zip(*parts, strict=True)] or [0.0, 0.0, 0, 0.0, 0, 0]
    return Balance(float(sums[0]), float(sums[1]), int(sums[2]), float(sums[3]), int(sums[4]), int(sums[5]))


def _parts(found: dict[str, Start]) -> Parts:
    counted = [s for s in found.values() if not s.released]
    unknown = [s for s in counted if s.settled and s.usd is None]
    running = [s for s in counted if not s.settled]
    return (
        sum(s.usd for s in counted if s.usd is not None),
        sum(s.counted for s in unknown),
        len(unknown),
        sum(s.counted for s in running),
        len(running),
        sum(s.usd is None and s.bound is None for s in counted),
    )


def _drawers(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return [each for each in found if not each.name.startswith(".") and each.is_dir()]
    except FileNotFoundError:
        return []


def _disk_time(folder: Path) -> float:
    """Now by the clock that stamps this folder; 0 where it cannot be asked, so that nothing counts as at rest."""
    probe = folder / f".{os.getpid()}.{os.urandom(4).hex()}.now"
    try:
        probe.touch()
        now = probe.stat().st_mtime
        probe.unlink()
    except OSError:
        return 0.0
    return now


def _remembered(folder: Path) -> dict[str, tuple[int, Parts]]:
    """Folder -> (time of change, sums); empty when the file is not there or not whole."""
    try:
        record: dict[str, Any] = json.loads((folder / SUMS).read_bytes())
        found = record["folders"].items()
        return {name: (int(changed), (a, b, c, d, e, f)) for name, (changed, a, b, c, d, e, f) in found}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _remember(folder: Path, found: dict[str, tuple[int, Parts]]) -> None:
    fresh = folder / f"{SUMS}.{os.urandom(6).hex()}"
    record = {"folders": {name: (changed, *parts) for name, (changed, parts) in sorted(found.items())}}
    try:
        fresh.write_text(json.dumps(record, separators=(",", ":")))
        fresh.replace(folder / SUMS)
    except OSError:
        fresh.unlink(missing_ok=True)  # a full disk: everything is read again next time
