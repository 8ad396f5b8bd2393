"""How far an experiment is, what it spent, how long it will take; the same from any shell, while it runs or not."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from fairtrial.capture.spend import grades, invocation, progress
from fairtrial.capture.spend.estimate import duration
from fairtrial.contracts.clock import parse
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.plain import counted
from fairtrial.contracts.records import load
from fairtrial.paths import Results

RECENT = 3600.0  # seconds; without a run that goes on, the pace is that of the last hour


def status(results: Results, name: str) -> str:
    """Several lines of text. UserError when nothing is planned under this name."""
    path = results.experiment(name).matrix
    if not path.exists():
        known = sorted(p.parent.name for p in results.root.glob("*/matrix.json"))
        raise UserError(f"{path}: no such file; planned experiments: {', '.join(known) or 'none'}")
    matrix = load(path)
    found = progress.standing(results, matrix)
    since, run = progress.since(results, name)
    lines = [_headline(found, run), *_table(found)]
    lines += _doubtful(found, grades.unscored(results, matrix)) + _not_run(results, name, run)
    if found.balance is not None:
        lines.append(f"money   {progress.money(found.balance, invocation.cap(results, run))}")
    now = time.time()
    left = progress.seconds_left(found, since or now - RECENT, now)
    if run is not None and left is not None:
        lines.append(f"left    about {duration(left)} at the pace of this run")
    lines += _running(results)
    lines += [f"last    {said}" for said in progress.last_outcomes(found)]
    return "\n".join(lines)


def _headline(found: progress.Standing, run: Mapping[str, Any] | None) -> str:
    done, planned = found.total("done"), found.total("planned")
    who = "not running" if run is None else f"run by process {run['pid']} on {run['host']} since {run['started_at']}"
    return f"{found.name}: {done} of {counted(planned, 'attempt')} done; {who}"


def _table(found: progress.Standing) -> list[str]:
    width = max((len(name) for name in found.arms), default=0)
    lines = [f"{'':<{width}}  {'done':>6} {'running':>8} {'left':>6} {'faults':>7}"]
    return lines + [
        f"{arm.name:<{width}}  {arm.done:>6} {arm.running:>8} {arm.left:>6} {arm.faults:>7}"
        for arm in found.arms.values()
    ]


def _doubtful(found: progress.Standing, unscored: str | None) -> list[str]:
    faults = found.total("faults")
    lines = [f"faults  {faults:,} so far, each with its evidence below results/faults"] if faults else []
    return lines + ([f"grades  {unscored}"] if unscored else [])


def _not_run(results: Results, name: str, run: Mapping[str, Any] | None) -> list[str]:
    """A stop of the run that goes on; what it, or else the last one, left out."""
    own = str(run["invocation"]) if run is not None else invocation.newest(results, name)
    if own is None:
        return []
    flag = invocation.stop_reason(results, own) if run is not None else None
    lines = [] if flag is None else [f"stop    no further attempt starts: {flag}"]
    reasons = invocation.all_not_run(results, own)
    return lines + [f"not run {counted(number, 'attempt')}: {reason}" for reason, number in reasons.items()]


def _running(results: Results) -> list[str]:
    lines = []
    for name, record in sorted(progress.running(results).items()):
        seconds = time.time() - parse(record["started_at"]).timestamp()
        where = f"process {record['pid']} on {record['host']}"
        job = f", cluster job {record['cluster_job']}" if record.get("cluster_job") else ""
        lines.append(f"now     {name} for {duration(max(0.0, seconds))} ({where}{job})")
    return lines
