"""Fabricated results trees: valid matrix.json, evidence.json, sealed, result.json and side files, without any agent.

    matrix = tree(Path("results"), tasks=35, repetitions=5, arms=ARMS_3X2)     # 1,050 attempts
    python tests/fabricate.py results --attempts 10000                          # from a shell

Everything is a function of the seed, so that two trees of the same arguments are equal to the byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

ORIGIN = datetime(2026, 1, 5, 9, 12, tzinfo=UTC)
WALL = 1800.0
Json = dict[str, Any]


@dataclass(frozen=True)
class Arm:
    """One harness with one model: its chance to pass (on a task of mean difficulty), typical seconds and dollars."""

    harness: str
    model: str
    passes: float = 0.8
    seconds: float = 120.0
    usd: float | None = 0.10
    cost_known: float = 1.0
    simulated: bool = False
    toolset: str = "git"
    adoption: str = "warm"
    version: str = "2.1.0"
    free: bool = False
    backend: str = "bwrap"
    degraded: tuple[str, ...] = ()


ARMS_3X2 = (
    Arm("alder", "m-large", 0.95, 120, 0.11),
    Arm("birch", "m-large", 0.95, 170, 0.09, 0.72, version="0.16.0"),
    Arm("cedar", "m-large", 0.60, 300, 0.08, version="1.4.2"),
    Arm("alder", "m-small", 0.85, 110, 0.032),
    Arm("birch", "m-small", 0.84, 160, 0.027, 0.68, version="0.16.0"),
    Arm("cedar", "m-small", 0.42, 190, 0.024, version="1.4.2"),
)
NAMES = (
    "fix-failing-test", "slugify-to-spec", "lru-cache", "edit-config", "multi-file-rename", "extract-helper",
    "add-cli-flag", "follow-agents-md", "mutation-tests", "minimal-fix",
)  # fmt: skip


@dataclass
class Settings:
    """What else can happen to a fabricated attempt; shares of all attempts."""

    faults: float = 0.0
    missing: float = 0.0
    excluded: float = 0.0
    unscored: float = 0.0
    redone: float = 0.0
    side_files: bool = True
    budget_share: float = 0.03
    titles: dict[str, str] = field(default_factory=dict)  # task -> title
    final_text: str | None = None
    extra_notes: tuple[str, ...] = ()


def sha(*parts: object) -> str:
    """A digest of anything printable."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def stamp(moment: datetime) -> str:
    """UTC with milliseconds and Z."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def cell(suite: str, number: int, task: str, arm: Arm, repetitions: int, titles: dict[str, str]) -> Json:
    """One cell of matrix.json."""
    recipe, grade = sha("recipe", suite, task, arm), sha("grade", suite, task, arm.harness)
    return {
        "suite": suite, "task": task, "label": f"T{number + 1:02d}",
        "title": titles.get(task, task.replace("-", " ").capitalize()),
        "language": ("python", "javascript", "go")[number % 3], "tags": [("feature", "bug", "format")[number % 3]],
        "difficulty": ("easy", "medium", "hard")[number % 3],
        "check": f"python3 -m unittest acceptance.test_{number:02d}",
        "harness": arm.harness, "adapter": arm.harness, "model": arm.model, "model_id": f"vendor/{arm.model}",
        "toolset": arm.toolset, "adoption": arm.adoption, "free": arm.free, "simulated": arm.simulated,
        "recipe": recipe[:12], "recipe_sha256": recipe, "grade": grade[:12], "grade_sha256": grade,
        "wall_seconds": WALL, "repetitions": repetitions,
    }  # fmt: skip


def task_names(count: int) -> list[str]:
    """Slugs of `count` tasks."""
    return [NAMES[n] if n < len(NAMES) else f"{NAMES[n % len(NAMES)]}-{n // len(NAMES) + 1}" for n in range(count)]


def matrix_of(cells: list[Json], name: str = "default", k: tuple[int, ...] = (1, 3)) -> Json:
    """matrix.json of these cells."""
    return {
        "schema_version": 1, "name": name, "digest": sha(json.dumps(cells, sort_keys=True)), "cells": cells,
        "skipped": [], "k": list(k),
    }  # fmt: skip


def tree(
    root: Path,
    *,
    tasks: int = 10,
    repetitions: int = 5,
    arms: tuple[Arm, ...] = ARMS_3X2,
    seed: int = 1,
    name: str = "default",
    suite: str = "time-to-green",
    k: tuple[int, ...] = (1, 3),
    settings: Settings | None = None,
) -> Json:
    """Write a results tree below `root`; returns its matrix (also written to <root>/<name>/matrix.json)."""
    settings = settings or Settings()
    cells = []
    for number, task in enumerate(task_names(tasks)):
        hardness = random.Random(sha(seed, "task", task)).gauss(0, 0.9)
        for arm in arms:
            one = cell(suite, number, task, arm, repetitions, settings.titles)
            cells.append(one)
            for repetition in range(1, repetitions + 1):
                attempt(root, one, arm, repetition, hardness, seed, settings)
    matrix = matrix_of(cells, name, k)
    _write(root / name / "matrix.json", matrix)
    return matrix


def rich(root: Path, seed: int = 1) -> Json:
    """3 harnesses x 2 models x 35 tasks x 5 repetitions in which a little of everything happens; 1,050 attempts."""
    settings = Settings(faults=0.008, excluded=0.004, unscored=0.006, redone=0.004)
    return tree(root, tasks=35, repetitions=5, seed=seed, k=(1, 4), settings=settings)


def attempt(root: Path, one: Json, arm: Arm, repetition: int, hardness: float, seed: int, settings: Settings) -> None:
    """One attempt: evidence, seal, result and side files; or a fault; or nothing."""
    key = f"{one['suite']}/{one['task']}/{one['harness']}/{one['model']}/{one['recipe']}/r{repetition}"
    draw = random.Random(sha(seed, key))
    started = ORIGIN + timedelta(milliseconds=draw.randrange(19_000_000))
    chance = draw.random()
    if chance < settings.missing:
        return
    if chance < settings.missing + settings.faults:
        fault(root, key, one, repetition, started)
        return
    fate = _fate(arm, hardness, draw, settings)
    folder = root / "attempts" / key
    grade = folder / "grades" / one["grade"]
    grade.mkdir(parents=True, exist_ok=True)
    files = side_files(folder, grade, key, fate, draw, settings) if settings.side_files else {}
    seal = orjson.dumps(evidence(key, one, arm, repetition, started, fate, files), option=orjson.OPT_SORT_KEYS)
    (folder / "evidence.json").write_bytes(seal)
    digest = hashlib.sha256(seal).hexdigest()
    (folder / "sealed").write_bytes(digest.encode() + b"\n")
    record = result(key, digest, one, arm, repetition, started, fate, files, settings)
    (grade / "result.json").write_bytes(orjson.dumps(record, option=orjson.OPT_SORT_KEYS))
    if draw.random() < settings.excluded:
        mark = {"schema_version": 1, "attempt_id": key, "reason": "the office network was down", "at": stamp(started)}
        _write(folder / "exclude.json", mark)
    if draw.random() < settings.redone:
        mark = {"schema_version": 1, "attempt_id": key, "reason": "wrong account", "at": stamp(started)}
        mark |= {"cost_usd": 0.1, "set_aside": "20260105T091200Z"}
        _write(root / "redone" / key / "20260105T091200Z" / "redo.json", mark)


def _fate(arm: Arm, hardness: float, draw: random.Random, settings: Settings) -> Json:
    """How one attempt goes: ending, verdict, seconds, turns, tokens, dollars."""
    odds = math.log(min(max(arm.passes, 0.001), 0.999) / (1 - min(max(arm.passes, 0.001), 0.999))) - hardness
    passed = arm.passes >= 1 or (arm.passes > 0 and draw.random() < 1 / (1 + math.exp(-odds)))
    seconds = min(WALL - 1, arm.seconds * math.exp(draw.gauss(0.1 * hardness, 0.6)))
    ending = "completed"
    if not passed and draw.random() < 0.25:
        ending, seconds = "timeout", WALL
    elif draw.random() < settings.budget_share:
        ending = "budget"
    turns = max(1, round(seconds / 12))
    unscored = draw.random() < settings.unscored
    cost = None if arm.usd is None or draw.random() >= arm.cost_known else arm.usd * math.exp(draw.gauss(0, 0.22))
    return {
        "ending": ending, "passed": None if unscored else passed, "seconds": round(seconds, 3), "turns": turns,
        "calls": turns * 2, "cost": None if cost is None else round(cost, 6),
        "tokens": round(turns * 2100 * math.exp(draw.gauss(0, 0.2))),
    }  # fmt: skip


def outcome_of(fate: Json) -> str | None:
    """The table of outcomes."""
    if fate["ending"] == "completed":
        return None if fate["passed"] is None else "green" if fate["passed"] else "red"
    return "timeout" if fate["ending"] == "timeout" else "agent_error"


def isolation(arm: Arm) -> Json:
    """What was in force."""
    boxed = arm.backend == "bwrap"
    return {
        "backend": arm.backend, "version": "0.11.0" if boxed else None, "userns": boxed, "pidns": boxed,
        "netns": "none" if boxed else "host", "seccomp": boxed, "degraded": list(arm.degraded),
        "canaries": {"home_absent": True, "hidden_absent": True, "acceptance_read_only": True,
                     "network_refused": boxed or None, "environment_clean": True},
    }  # fmt: skip


def evidence(key: str, one: Json, arm: Arm, repetition: int, started: datetime, fate: Json, files: Json) -> Json:
    """A valid evidence.json."""
    timed_out = fate["ending"] == "timeout"
    return {
        "schema_version": 1, "attempt_id": key, "recipe_sha256": one["recipe_sha256"], "recipe": recipe(one, arm),
        "repetition": repetition, "simulated": arm.simulated, "started_at": stamp(started),
        "ended_at": stamp(started + timedelta(seconds=fate["seconds"] + 0.2)), "agent_seconds": fate["seconds"],
        "wall_seconds": fate["seconds"] + 0.2, "ending": fate["ending"], "ending_reason": "final event",
        "process": {"exit_status": None if timed_out else 0, "signal": 9 if timed_out else None,
                    "timed_out": timed_out, "lingered": False, "stopped_by": None, "survivors_killed": 0,
                    "stdout_bytes": 1200, "stderr_bytes": 0, "stdout_kept_bytes": 1200, "stderr_kept_bytes": 0},
        "isolation": isolation(arm),
        "versions": {"harness_observed": arm.version, "harness_pinned": arm.version, "fairtrial": "0.1.0",
                     "python": "3.11.2", "toolset": "git 2.39.5"},
        "platform": {"system": "Linux", "release": "6.1", "machine": "x86_64", "cpus": 8, "load_start": 0.2,
                     "load_end": 0.3, "node": sha("node")[:12]},
        "instruments": {}, "earlier_faults": 0, "redone": None, "start_tree": sha(key, "start"),
        "end_tree": sha(key, "end"), "acceptance_changed": [], "protected_changed": [],
        "invocation": "20260105T091200Z-fab", "files": files,
    }  # fmt: skip


def recipe(one: Json, arm: Arm) -> Json:
    """A valid recipe."""
    return {
        "schema_version": 1, "suite": one["suite"], "task": one["task"], "prompt_sha256": sha(one["task"], "prompt"),
        "workspace": [], "workspace_script": None, "acceptance": [], "protected": [], "requires": [],
        "toolset": {"name": arm.toolset, "protocol": 1, "skills": []}, "adoption": arm.adoption,
        "harness": {"name": arm.harness, "adapter": arm.harness, "protocol": 1, "version": arm.version, "options": {},
                    "option_files": {}, "auth": "none", "isolate": True},
        "model": {"name": arm.model, "id": one["model_id"], "provider": None, "wire": None, "base_url": None,
                  "rehearsal": False, "options": {}},
        "budget": {"wall_seconds": WALL, "turns": 30, "usd": 2.0, "tokens": None},
        "isolation": {"policy": "auto", "network": "none", "protocol": 1},
        "instruments": {"trace": ["git"], "snapshot_ignore": []}, "seed": None, "solution": None, "price": None,
    }  # fmt: skip


def result(
    key: str, digest: str, one: Json, arm: Arm, repetition: int, started: datetime, fate: Json, files: Json,
    settings: Settings,
) -> Json:  # fmt: skip
    """A valid result.json."""
    outcome = outcome_of(fate)
    green = outcome == "green"
    unscored = fate["ending"] == "completed" and fate["passed"] is None
    return {
        "schema_version": 1, "attempt_id": key, "evidence_sha256": digest, "recipe_sha256": one["recipe_sha256"],
        "grade_sha256": one["grade_sha256"],
        **{name: one[name] for name in ("suite", "task", "harness", "adapter", "model", "toolset", "adoption")},
        "repetition": repetition, "simulated": arm.simulated, "model_configured": one["model_id"],
        "model_observed": one["model_id"], "started_at": stamp(started),
        "ended_at": stamp(started + timedelta(seconds=fate["seconds"] + 0.2)),
        "graded_at": stamp(started + timedelta(hours=8)), "outcome": outcome, "scored": not unscored,
        "green_at": stamp(started + timedelta(seconds=fate["seconds"])) if green else None,
        "performance": {
            "execution": _execution(fate), "correctness": _correctness(fate), "compliance": _compliance(),
            "effort": _effort(fate, settings), "time_cost": _time_cost(fate, green, arm),
        },
        "versions": {"harness_observed": arm.version, "harness_pinned": arm.version, "fairtrial": "0.1.0",
                     "python": "3.11.2", "toolset": "git 2.39.5"},
        "isolation": isolation(arm), "numbers": {"grader": 1, "parser": 1}, "notes": list(settings.extra_notes),
        "earlier_faults": 0, "load": 0.3, "artifacts": {name: told["sha256"] for name, told in files.items()},
    }  # fmt: skip


def _execution(fate: Json) -> Json:
    timed_out = fate["ending"] == "timeout"
    return {
        "ending": fate["ending"], "ending_reason": "final event", "exit_status": None if timed_out else 0,
        "signal": 9 if timed_out else None, "timed_out": timed_out, "lingered": False, "survivors_killed": 0,
        "terminal_event": not timed_out, "malformed_lines": 0, "incomplete_tool_results": 0, "unknown_events": 0,
        "errors": 0, "warnings": 0, "stdout_truncated": False, "agent_said_done": True, "trace_shim": "compiled",
        "trace_bypassed": 0,
    }  # fmt: skip


def _correctness(fate: Json) -> Json:
    passed = fate["passed"]
    names = (("acceptance", "milestone"), ("old-behaviour", "milestone"), ("protected-work", "minefield"))
    checks = [
        {"name": name, "kind": kind, "passed": passed or kind == "minefield",
         "detail": "" if passed else "status 1: 1 of 7 keys is missing" if name == "acceptance" else "differs"}
        for name, kind in names
    ] if passed is not None else []  # fmt: skip
    count = sum(1 for c in checks if c["passed"]) if checks else None
    return {
        "verdict": {True: "passed", False: "failed", None: "verifier_error"}[passed], "check_passed": passed,
        "checks": checks, "passed": count, "total": len(checks) or None,
        "milestones_passed": None if passed is None else 2 * passed, "milestones_total": 2 if checks else None,
        "minefields_passed": 1 if checks else None, "minefields_total": 1 if checks else None,
        "protected_ok": None if passed is None else True, "acceptance_untouched": True, "suspect": False,
        "verifier_error": "the verifier ended without a report" if passed is None else None,
        "verifier_seconds": 0.4, "corrected": False,
    }  # fmt: skip


def _compliance() -> Json:
    return {"violations": [], "checked": ["acceptance", "protected", "policy"], "policy_refusals": 0,
            "foreign_requests": None, "protected_changed": 0, "acceptance_changed": 0}  # fmt: skip


def _effort(fate: Json, settings: Settings) -> Json:
    turns = fate["turns"]
    names = ("vc_reads", "vc_writes", "vc_errors", "tool_calls", "tool_errors", "parser_calls", "repeated_reads",
             "selector_failures", "vc_output_bytes", "tool_output_bytes", "skill_reads", "commands",
             "commands_agent", "commands_platform", "commands_internal", "files_changed", "lines_added",
             "lines_removed", "patch_bytes", "green_checked", "blind_retries", "work_after_green_seconds",
             "empty_diff_exit_0", "early_stop_signals")  # fmt: skip
    known = {
        "vc_reads": turns // 2, "vc_writes": 2, "vc_errors": turns % 3, "tool_calls": fate["calls"],
        "tool_errors": turns % 4, "parser_calls": 0, "repeated_reads": turns // 5, "selector_failures": 0,
        "vc_output_bytes": turns * 310, "tool_output_bytes": turns * 900, "commands": 4 if settings.side_files else 0,
        "files_changed": 1, "lines_added": 2, "lines_removed": 1, "green_checked": True,
    }  # fmt: skip
    return {name: known.get(name) for name in names}


def _time_cost(fate: Json, green: bool, arm: Arm) -> Json:
    seconds = fate["seconds"]
    first = {"lower_seconds": round(seconds * 0.7, 3) if green else None, "certain": True if green else None,
             "upper_seconds": round(seconds * 0.8, 3) if green else None, "went_red_again": False if green else None,
             "seconds_after": round(seconds * 0.2, 3) if green else None, "snapshots": 5,
             "reason": None if green else "never green"}  # fmt: skip
    share = fate["tokens"] // 10
    return {
        "agent_seconds": seconds, "wall_seconds": seconds + 0.2, "seconds_to_green": seconds if green else None,
        "first_green": first, "first_acceptance_green": first, "first_command_seconds": round(seconds * 0.05, 3),
        "first_mutation_seconds": round(seconds * 0.3, 3), "vc_summed_seconds": round(seconds * 0.02, 3),
        "vc_occupied_seconds": round(seconds * 0.02, 3), "api_seconds": round(seconds * 0.6, 3),
        "turns": fate["turns"], "requests": None, "cost_usd": fate["cost"],
        "cost_source": None if fate["cost"] is None else "cli",
        "tokens": {"input_uncached": share * 3, "cache_read": share * 5, "cache_write": share, "output": share,
                   "reasoning": None},
        "tokens_lower_bound": fate["ending"] != "completed",
    }  # fmt: skip


def side_files(folder: Path, grade: Path, key: str, fate: Json, draw: random.Random, settings: Settings) -> Json:
    """Trace, events, patch and output; returns what evidence.json says of the sealed ones."""
    content = {
        "trace.jsonl": b"".join(orjson.dumps(_traced(n, fate)) + b"\n" for n in range(4)),
        "workspace.patch": _patch(fate, draw).encode(),
        "agent-stdout.txt": b'{"type":"result"}\n',
        "agent-stderr.txt": b"",
    }
    for name, body in content.items():
        (folder / name).write_bytes(body)
    classes = zip(("task", "task", "task", "platform"), ("read", "mutation", None, "read"), strict=True)
    buckets = {
        "schema_version": 1, "counts": {"task": 3, "platform": 1, "tool_internal": 0}, "unproven": 0, "bypassed": 0,
        "commands": [{"seq": n, "span": f"s{n}", "bucket": b, "vc": vc} for n, (b, vc) in enumerate(classes)],
    }  # fmt: skip
    _write(grade / "trace-buckets.json", buckets)
    _write(grade / "agent-events.json", events(fate, settings.final_text))
    return {name: {"sha256": hashlib.sha256(body).hexdigest(), "bytes": len(body)} for name, body in content.items()}


def _traced(number: int, fate: Json) -> Json:
    started = int(fate["seconds"] * 1e9 * (0.1 + 0.2 * number))
    argv = (["git", "status"], ["git", "commit", "-m", "done"], ["python3", "-m", "unittest"], ["git", "log"])[number]
    return {
        "schema_version": 3, "seq": number, "span": f"s{number}", "parent_span": None, "depth": 0, "command": argv[0],
        "argv": argv, "cwd": "/task", "started_ns": started, "ended_ns": started + 20_000_000, "exit_status": 0,
        "signal": None, "stdin_bytes": 0, "stdout_bytes": 120, "stderr_bytes": 0, "merged": False, "stdout_path": None,
        "stderr_path": None, "output_truncated": False, "refused": False, "proven": True, "shim": "compiled",
        "pid": 10 + number, "ppid": 2, "sid": 2, "pgid": 2, "parent_is_main": True, "shlvl": False, "env_names": 9,
        "ancestors": ["/usr/bin/agent"], "snapshot": None,
    }  # fmt: skip


def _patch(fate: Json, draw: random.Random) -> str:
    added = draw.choice(("    return value", "    return value or None", "    return list(value)"))
    return (
        "diff --git a/tally/stats.py b/tally/stats.py\nindex 1111111..2222222 100644\n--- a/tally/stats.py\n"
        f"+++ b/tally/stats.py\n@@ -1,2 +1,3 @@\n def stats(value):\n-    pass\n+    # {fate['turns'] % 2}\n+{added}\n"
    )


def events(fate: Json, final_text: str | None = None) -> Json:
    """A valid agent-events.json."""
    step = int(fate["seconds"] * 1e9 / 5)
    calls = [
        {"id": f"c{n}", "order": 2 * n + 1, "name": ("Bash", "Edit")[n % 2], "kind": ("shell", "edit")[n % 2],
         "command": "git status" if n % 2 == 0 else None, "arguments": {"path": "tally/stats.py"},
         "started_ns": step * (n + 1), "ended_ns": step * (n + 1) + 90_000_000, "is_error": False, "exit_status": 0,
         "output_bytes": 120, "output_head": "On branch main", "complete": True}
        for n in range(3)
    ]  # fmt: skip
    tokens = dict.fromkeys(("input_uncached", "cache_read", "cache_write", "output", "reasoning"))
    text = "All seven keys are there." if final_text is None else final_text
    return {
        "schema_version": 1, "adapter": "fabricated", "parser": 1, "session_id": "s-1", "model_observed": "m",
        "cli_version": "2.1.0", "turns": fate["turns"], "cost_usd": fate["cost"], "cost_source": "cli",
        "tokens": tokens, "tokens_lower_bound": False, "api_seconds": None, "stop": "completed", "model_events": 3,
        "final_text": text, "errors": [], "warnings": [],
        "coverage": {"terminal_event": True, "lines": 9, "malformed_lines": [], "incomplete_tool_results": 0,
                     "unknown_events": {}},
        "messages": [{"order": 0, "role": "assistant", "text": "I shall look at the tests first.", "at_ns": step},
                     {"order": 8, "role": "assistant", "text": text, "at_ns": step * 4}],
        "tool_calls": calls, "requests": [],
    }  # fmt: skip


def fault(root: Path, key: str, one: Json, repetition: int, started: datetime) -> None:
    """One infrastructure fault."""
    record = {
        "schema_version": 1, "fault_id": "20260105T091200Z-1", "attempt_id": key,
        "recipe_sha256": one["recipe_sha256"], "kind": "quota", "message": "You have reached your weekly limit.",
        "started_at": stamp(started), "ended_at": stamp(started + timedelta(seconds=2)), "agent_seconds": 2.0,
        "cost_usd": 0.01, "cost_source": "cli", "turns": 1,
        "tokens": dict.fromkeys(("input_uncached", "cache_read", "cache_write", "output", "reasoning")),
        "model_observed": None, "invocation": "20260105T091200Z-fab", "simulated": one["simulated"],
        **{name: one[name] for name in ("harness", "model", "suite", "task")}, "repetition": repetition,
        "retry_after_seconds": None, "files": [],
    }  # fmt: skip
    _write(root / "faults" / key / record["fault_id"] / "fault.json", record)


def _write(path: Path, record: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2))


def main() -> None:
    """Fabricate from a shell."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--tasks", type=int, default=0, help="default: as many as 5 repetitions need")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--rich", action="store_true", help="3 harnesses x 2 models x 35 tasks x 5, everything happens")
    parser.add_argument("--bare", action="store_true", help="no side files")
    options = parser.parse_args()
    if options.rich:
        rich(options.root)
        return
    arms = len(ARMS_3X2)
    tasks = options.tasks or max(1, math.ceil(options.attempts / arms / options.repetitions))
    tree(options.root, tasks=tasks, repetitions=options.repetitions, settings=Settings(side_files=not options.bare))


if __name__ == "__main__":
    main()
