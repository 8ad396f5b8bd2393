"""The records of one fabricated attempt: how it goes, its seal, its result and its side files. See fabricate.py."""

from __future__ import annotations

import hashlib
import math
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

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


def write(path: Path, record: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(record, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2))


def fate_of(arm: Arm, hardness: float, draw: random.Random, settings: Settings) -> Json:
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
        "files_changed": 1, "lines_added": 2, "lines_removed": 1, "green_checked": turns % 9 > 0,
        "work_after_green_seconds": round(fate["seconds"] * 0.2, 3) if fate["passed"] else None,
        "blind_retries": max(turns % 11 - 8, 0), "empty_diff_exit_0": False,
        "early_stop_signals": [] if turns % 8 else ["last_command_failed"],
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
