"""One attempt as text: what it was, how it ended, what was checked, what was run, what was in force."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairtrial.contracts.errors import UserError
from fairtrial.contracts.plain import plain
from fairtrial.contracts.records import load
from fairtrial.instruments.trace import reader
from fairtrial.paths import Attempt, AttemptId, Results
from fairtrial.upkeep import kept

COMMANDS = 40  # shown; the rest is counted


def _named(given: str, results: Path) -> Attempt:
    folder = given.partition("/grades/")[0].removesuffix("/evidence.json")
    root, found, _ = folder.rpartition("/attempts/")
    return Results(Path(root) if found else results).attempt(AttemptId.parse(folder))


def others(given: str, results: Path) -> list[Path]:
    """What is meant where it is no sealed attempt: folders of faults and of attempts that were set aside.

    A path below faults/ or redone/ means one of them or all of its attempt; the name of an attempt that was never
    sealed means all there are of it. [] for a sealed attempt.
    """
    found = kept.folders(given, results)
    if found:
        return found
    attempt = _named(given, results)
    return [] if attempt.folder.is_dir() else kept.beside(attempt)


def locate(given: str, results: Path) -> Attempt:
    """A sealed attempt by its id below `results`, or by any path to its folder or a file in it."""
    if kept.folders(given, results):
        raise UserError(f"{given}: is no sealed attempt but what is kept beside one; `fairtrial show` reads it")
    attempt = _named(given, results)
    if not attempt.folder.is_dir():
        beside = sorted(path.name for path in attempt.folder.parent.glob("r[0-9]*"))
        there = f"of this recipe there are {', '.join(beside)}" if beside else "`fairtrial recipes` lists what there is"
        raise UserError(f"{attempt.folder}: there is no such attempt on disk; {there}")
    return attempt


def newest_result(attempt: Attempt) -> Path:
    """result.json of the newest grade; UserError when there is none."""
    found = sorted((attempt.folder / "grades").glob("*/result.json"), key=lambda p: p.stat().st_mtime_ns)
    if not found:
        raise UserError(f"{attempt.id}: is not graded yet; snakemake --cores N grades it")
    return found[-1]


def restore(attempt: Attempt, into: Path, at: str) -> str:
    """Lay the workspace of a moment out in a new folder."""
    from fairtrial.instruments.snapshots.export import restore_at

    if into.exists() and any(into.iterdir()):
        raise UserError(f"--workspace: {into} is not empty; name a new folder")
    tree = restore_at(attempt.folder, at, into)
    return f"{into}: the workspace at {at} (tree {tree[:12]})"


def text(attempt: Attempt) -> str:
    """Several lines, plain; control characters in foreign text are shown as escapes."""
    return _plain(_lines(attempt) + kept.listed(attempt))


def text_of(folder: Path) -> str:
    """The same of one fault, or of one attempt that was set aside."""
    if (folder / "fault.json").exists():
        traced = _commands(folder / "trace.jsonl") if (folder / "trace.jsonl").exists() else []
        return _plain(kept.fault(folder) + traced + kept.stderr_end(folder))
    attempt = Attempt(AttemptId.parse(folder.parent.as_posix()), folder)
    there = _lines(attempt) if attempt.evidence.exists() else [str(attempt.id), "its folder was gone already"]
    return _plain([there[0], *kept.redone(folder), *there[1:]])


def _plain(lines: list[str]) -> str:
    return "\n".join(plain(line.replace("\n", "\\n")) for line in lines)


def _lines(attempt: Attempt) -> list[str]:
    lines, green = _heading(attempt, load(attempt.evidence)), False
    if any((attempt.folder / "grades").glob("*/result.json")):
        result = load(newest_result(attempt))
        lines, green = lines + _result(result), result["outcome"] == "green"
    else:
        lines.append("not graded yet")
    return lines + _commands(attempt.folder / "trace.jsonl") + ([] if green else kept.stderr_end(attempt.folder))


def _heading(attempt: Attempt, evidence: dict[str, Any]) -> list[str]:
    isolation, process = evidence["isolation"], evidence["process"]
    degraded = "; ".join(isolation["degraded"]) or "nothing degraded"
    ended = f"exit status {process['exit_status']}" if process["signal"] is None else f"signal {process['signal']}"
    return [
        str(attempt.id) + ("  (simulated)" if evidence["simulated"] else ""),
        f"started    {evidence['started_at']}, agent {evidence['agent_seconds']:.2f} s",
        f"ending     {evidence['ending']} ({evidence['ending_reason']}), {ended}",
        f"isolation  {isolation['backend']} {isolation['version'] or ''}, network {isolation['netns']}, {degraded}",
        f"version    {evidence['versions']['harness_observed'] or 'not said'}",
    ]


def _result(result: dict[str, Any]) -> list[str]:
    parts = result["performance"]
    correctness, times = parts["correctness"], parts["time_cost"]
    green = times["first_green"]
    lines = [f"outcome    {result['outcome'] or 'unscored'}, verdict {correctness['verdict']}"]
    if correctness["verifier_error"]:
        lines.append(f"           {correctness['verifier_error']}")
    if green["upper_seconds"] is not None:
        since = "the start" if green["lower_seconds"] is None else f"{green['lower_seconds']:.2f} s"
        again = ", went red again" if green["went_red_again"] else ""
        lines.append(f"first green after {since} and by {green['upper_seconds']:.2f} s{again}")
    else:
        lines.append(f"first green: none ({green['reason']})")
    cost = "not said" if times["cost_usd"] is None else f"{times['cost_usd']:.4f} USD ({times['cost_source']})"
    lines.append(f"cost       {cost}, turns {times['turns'] if times['turns'] is not None else 'not said'}")
    for check in correctness["checks"]:
        detail = "" if check["passed"] else "  " + check["detail"].strip().split("\n")[0][:80]
        lines.append(f"  {'pass' if check['passed'] else 'FAIL'}  {check['name']} ({check['kind']}){detail}")
    lines += [f"note       {note}" for note in result["notes"]]
    return lines


def _commands(path: Path) -> list[str]:
    rows = reader.read(path)
    if rows is None:
        return ["commands: not traced"]
    lines = [f"commands   {len(rows)}"]
    lines += [
        f"  {row['started_ns'] / 1e9:8.2f} s  [{_status(row)}]  {' '.join(row['argv'])[:100]}"
        for row in rows[:COMMANDS]
    ]
    if len(rows) > COMMANDS:
        lines.append(f"  ... {len(rows) - COMMANDS} more in {path.name}")
    return lines


def _status(row: dict[str, Any]) -> str:
    """How a traced command ended; of one that ran inside another only the start is recorded (docs/trace.md)."""
    if row["ended_ns"] is None:
        return "inner" if row["depth"] else "end not seen"
    return str(row["exit_status"]) if row["signal"] is None else f"-{row['signal']}"
