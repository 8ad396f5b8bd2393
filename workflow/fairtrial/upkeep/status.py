"""How far an experiment is, what it spent, how long it will take; the same from any shell, while it runs or not."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairtrial.capture.spend import grades, invocation, progress
from fairtrial.capture.spend.estimate import duration
from fairtrial.contracts.clock import parse
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.plain import counted
from fairtrial.contracts.records import load
from fairtrial.paths import Results


def status(results: Results, name: str, folders: Mapping[str, Path] | None = None) -> str:
    """Several lines of text. UserError when nothing is planned under this name.

    folders: attempt -> where it is, for an experiment that was merged from other results trees.
    """
    path = results.experiment(name).matrix
    if not path.exists():
        known = sorted(p.parent.name for p in results.root.glob("*/matrix.json"))
        raise UserError(
            f"{path}: no such file; planned experiments: {', '.join(known) or 'none; --results names another folder'}"
        )
    matrix = load(path)
    found = progress.standing(results, matrix, folders)
    since, run = progress.since(results, name)
    lines = [_headline(found, run, folders is not None), *_table(found)]
    own = str(run["invocation"]) if run is not None else invocation.newest(results, name)
    not_run = {} if own is None else invocation.all_not_run(results, own)
    stopped = _stopped(results, run)
    lines += _doubtful(found, grades.unscored(results, matrix)) + stopped
    lines += [f"not run {counted(number, 'attempt')}: {reason}" for reason, number in not_run.items()]
    if found.balance is not None:
        cap = None if own is None else invocation.cap(results, own)
        lines.append(f"money   {progress.money(found.balance, cap)}")
    waits = run is not None and not stopped  # after a stop only what runs is waited for
    left = progress.seconds_left(found, since, time.time(), sum(not_run.values())) if waits else None
    lines += [f"left    about {duration(left)} at the pace of this run"] if left else []
    lines += _running(results)
    ungraded = 0 if run is not None or folders else _ungraded(found)
    if ungraded:
        lines.append(f"grades  {counted(ungraded, 'attempt')} not graded; the next run does it, without an agent")
    if run is None and own is not None and (found.open or ungraded):
        lines.append(f"go on   {invocation.command_of(results, own)}")
    lines += [f"last    {said}" for said in progress.last_outcomes(found)]
    return "\n".join(lines)


def _headline(found: progress.Standing, run: Mapping[str, Any] | None, merged: bool) -> str:
    done, planned = found.total("done"), found.total("planned")
    idle = "merged from other results, which their own folders go on with" if merged else "not running"
    who = idle if run is None else f"run by process {run['pid']} on {run['host']} since {run['started_at']}"
    return f"{found.name}: {done} of {counted(planned, 'attempt')} done; {who}"


def _table(found: progress.Standing) -> list[str]:
    width = max((len(name) for name in found.arms), default=0)
    lines = [f"{'':<{width}}  {'done':>6} {'running':>8} {'left':>6} {'faults':>7}"]
    return lines + [
        f"{arm.name:<{width}}  {arm.done:>6} {arm.running:>8} {arm.left:>6} {arm.faults:>7}"
        for arm in found.arms.values()
    ]


def _ungraded(found: progress.Standing) -> int:
    return sum(not attempt.result(grade).exists() for _, attempt, grade in found.ended)


def _doubtful(found: progress.Standing, unscored: str | None) -> list[str]:
    faults = found.total("faults")
    where = f"{'each ' if faults > 1 else ''}with its evidence below results/faults; `fairtrial show` reads it"
    lines = [f"faults  {faults:,} so far, {where}"] if faults else []
    return lines + ([f"grades  {unscored}"] if unscored else [])


def _stopped(results: Results, run: Mapping[str, Any] | None) -> list[str]:
    """Whether the run that goes on was told to stop."""
    flag = None if run is None else invocation.stop_reason(results, str(run["invocation"]))
    return [] if flag is None else [f"stop    no further attempt starts: {flag}"]


def _running(results: Results) -> list[str]:
    lines = []
    for name, record in sorted(progress.running(results).items()):
        seconds = time.time() - parse(record["started_at"]).timestamp()
        where = f"process {record['pid']} on {record['host']}"
        job = f", cluster job {record['cluster_job']}" if record.get("cluster_job") else ""
        lines.append(f"now     {name} for {duration(max(0.0, seconds))} ({where}{job})")
    return lines
