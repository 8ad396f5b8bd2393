"""How far an experiment is: read from the files alone, so that any shell may ask."""

from __future__ import annotations

import itertools
import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairtrial.capture.spend import invocation, ledger
from fairtrial.capture.spend.estimate import duration
from fairtrial.capture.spend.leases import held, holder
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import field, lean, replaced
from fairtrial.contracts.plain import counted
from fairtrial.paths import Attempt, Results, once, planned_by, tree_of

EVERY = "FAIRTRIAL_PROGRESS"  # seconds between two lines; 0: none
ON_TERMINAL, IN_LOG = 10.0, 60.0
SHOWN = 5  # last outcomes
NOT_GRADED = "not graded yet"


@lean
class ArmStanding:
    """Attempts of one arm by state."""

    name: str
    planned: int = 0
    done: int = 0
    running: int = 0
    faults: int = 0

    @property
    def left(self) -> int:
        """Neither done nor running."""
        return max(0, self.planned - self.done - self.running)


@lean
class Standing:
    """An experiment's state at one moment."""

    name: str
    arms: dict[str, ArmStanding] = field(default_factory=dict)
    balance: ledger.Balance | None = None
    ended: list[tuple[float, Attempt, str]] = field(default_factory=list)  # (time, attempt, grade), newest first
    open: set[str] = field(default_factory=set)  # planned and not done
    faulted: dict[str, float] = field(default_factory=dict)  # of those, when they last ended in a fault

    def total(self, what: str) -> int:
        """Sum of a count over the arms."""
        return sum(getattr(arm, what) for arm in self.arms.values())


def standing(results: Results, matrix: Mapping[str, Any], folders: Mapping[str, Path] | None = None) -> Standing:
    """Look at every planned attempt: one `stat` each.

    folders: attempt -> where it is, for a merged experiment; its attempts and faults are in other results trees.
    """
    found = Standing(matrix["name"])
    arm_of: dict[str, ArmStanding] = {}
    for cell in matrix["cells"]:
        name = " x ".join(cell[key] for key in ("harness", "toolset", "adoption", "model"))
        arm = found.arms.setdefault(name, ArmStanding(name))
        for attempt_id in planned_by(cell):
            arm_of[attempt_id.rpartition("/")[0]] = arm
            attempt = results.attempt(attempt_id)
            _look(found, arm, replaced(attempt, folder=folders[attempt_id]) if folders else attempt, cell["grade"])
    for path in once(path for tree in _trees(results, folders) for path in tree.fault_records()):
        stem = "/".join(path.parts[-8:-3])
        if stem in arm_of:
            arm_of[stem].faults += 1
            name = "/".join(path.parts[-8:-2])
            found.faulted[name] = max(path.stat().st_mtime, found.faulted.get(name, 0.0))
    for name in running(results):
        if name in found.open:
            arm_of[name.rpartition("/")[0]].running += 1
            found.faulted.pop(name, None)
    found.ended.sort(key=lambda each: each[0], reverse=True)
    folder = results.ledger(matrix["name"])
    found.balance = ledger.balance(results, matrix["name"]) if folder.exists() else None
    return found


def _trees(results: Results, folders: Mapping[str, Path] | None) -> list[Results]:
    """Where the attempts of an experiment are."""
    if not folders:
        return [results]
    return [Results(root) for root in dict.fromkeys(map(tree_of, folders.values()))]


def _look(found: Standing, arm: ArmStanding, attempt: Attempt, grade: str) -> None:
    arm.planned += 1
    try:
        moment = attempt.evidence.stat().st_mtime
    except OSError:
        found.open.add(str(attempt.id))
        return
    arm.done += 1
    found.ended.append((moment, attempt, grade))


def running(results: Results) -> dict[str, dict[str, Any]]:
    """Attempt -> lease record of each one whose agent is being run now."""
    found = {}
    for folder in (results.root / "scratch").glob("*"):
        record = held(folder / "lease.json")
        if record is None:
            continue
        living = holder(results.attempt(record["attempt_id"]).lease)
        if living is not None and living["token"] == record["token"]:
            found[str(record["attempt_id"])] = living
    return found


def seconds_left(found: Standing, since: float, now: float, not_run: int = 0) -> float | None:
    """From how many ended since `since`; None while none has.

    What ended in a fault since then, or will not start (`not_run`), is not waited for: the next run tries it.
    """
    ended = sum(moment >= since for moment, _, _ in found.ended)
    over = sum(found.faulted.get(name, 0.0) >= since for name in found.open)
    left = max(0, len(found.open) - over - not_run)
    return left * (now - since) / ended if ended and now > since else None


def line(found: Standing, since: float, cap: float | None, not_run: int = 0) -> str:
    """One line for a log."""
    parts = [
        f"{found.total('done')} of {counted(found.total('planned'), 'attempt')} done, {found.total('running')} running"
    ]
    if found.total("faults"):
        parts.append(f"{counted(found.total('faults'), 'fault')} so far")
    if not_run:
        parts.append(f"{not_run:,} will not start")
    if found.balance is not None:
        parts.append(money(found.balance, cap))
    left = seconds_left(found, since, time.time(), not_run)
    if left:
        parts.append(f"about {duration(left)} left")
    graded = (said for said in map(_outcome, found.ended[: 2 * SHOWN]) if not said.endswith(NOT_GRADED))
    parts += [f"last: {said}" for said in itertools.islice(graded, 1)]
    return "; ".join(parts)


def money(balance: ledger.Balance, cap: float | None) -> str:
    """What was spent, what is uncertain about it, and the cap."""
    said = f"{balance.known:.2f} USD spent"
    if balance.unknown:
        said += f", {counted(balance.unknown, 'attempt')} of unknown cost"
        said += f" counted at {balance.at_bound:.2f}" if balance.at_bound else " on top"
    if balance.open:
        said += f", {balance.open:.2f} reserved"
    return said + (f", cap {cap:.2f}" if cap is not None else "")


def last_outcomes(found: Standing, count: int = SHOWN) -> list[str]:
    """`task harness model r1 green` of those that ended last."""
    return [_outcome(each) for each in found.ended[:count]]


def _outcome(ended: tuple[float, Attempt, str]) -> str:
    _, attempt, grade = ended
    try:
        said = str(json.loads(attempt.result(grade).read_bytes())["outcome"] or "unscored")
    except (OSError, ValueError, KeyError):
        said = NOT_GRADED
    return f"{attempt.id.task} {attempt.id.harness} {attempt.id.model} r{attempt.id.repetition} {said}"


class Reporter:
    """Prints a line now and then while Snakemake runs, when it has changed."""

    def __init__(self, results: Results, matrix: Mapping[str, Any], cap: float | None, own: str = "none") -> None:
        self._what = (results, matrix)
        self._own = own
        self._cap = cap
        self._since = time.time()
        self._over = threading.Event()
        self._said = ""
        text = os.environ.get(EVERY, "")
        usual = ON_TERMINAL if sys.stderr.isatty() else IN_LOG
        self._every = float(text) if text.replace(".", "", 1).isdigit() else usual
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def start(self) -> Reporter:
        """Begin; nothing is printed before the first interval is over."""
        if self._every > 0:
            self._thread.start()
        return self

    def stop(self) -> None:
        """No further line."""
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(self._every):
            try:
                not_run = sum(invocation.all_not_run(self._what[0], self._own).values())
                text = line(standing(*self._what), self._since, self._cap, not_run)
            except (OSError, ValueError, KeyError, UserError):
                continue  # a file went away while we looked; the next look sees more
            if text != self._said and not self._over.is_set():
                self._said = text
                sys.stderr.write(f"fairtrial: {text}\n")
                sys.stderr.flush()


def since(results: Results, name: str) -> tuple[float, dict[str, Any] | None]:
    """(when the run that goes on now began, its record), or (0, None) when none runs."""
    path: Path = results.experiment(name).folder / ".running.json"
    record = holder(path)
    if record is None:
        return 0.0, None
    from fairtrial.contracts.clock import parse

    return parse(record["started_at"]).timestamp(), record
