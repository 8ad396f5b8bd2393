"""result.json from what a grade found: five sections side by side, never blended; what was not measured is null."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairtrial.contracts.clock import parse, stamp, utc_now
from fairtrial.contracts.records import digest, file_digest
from fairtrial.contracts.schema import blank
from fairtrial.grading.compliance import compliance
from fairtrial.grading.effort import effort, time_parts
from fairtrial.grading.first_green import decide
from fairtrial.grading.outcome import outcome_of

if TYPE_CHECKING:
    from fairtrial.grading.grade import Graded

Json = dict[str, Any]
CROWDED = 1.5  # load per CPU above which a time is no longer that of the agent alone


def result(graded: Graded, folder: Path) -> Json:
    """The record of schemas/result.schema.json; `artifacts` is filled by the caller."""
    evidence, spec = graded.evidence, graded.spec
    recipe = evidence["recipe"]
    ending = "fault_found_at_grading" if graded.fault else evidence["ending"]
    outcome = outcome_of(ending, graded.judgement.verdict)
    return {
        "schema_version": 1,
        "attempt_id": evidence["attempt_id"],
        "evidence_sha256": file_digest(graded.attempt.evidence),
        "recipe_sha256": evidence["recipe_sha256"],
        "grade_sha256": digest(spec),
        "suite": spec["suite"],
        "task": spec["task"],
        "harness": recipe["harness"]["name"],
        "adapter": recipe["harness"]["adapter"],
        "model": recipe["model"]["name"],
        "toolset": recipe["toolset"]["name"],
        "adoption": recipe["adoption"],
        "repetition": evidence["repetition"],
        "simulated": evidence["simulated"],
        "model_configured": recipe["model"]["id"],
        "model_observed": graded.events["model_observed"],
        "started_at": evidence["started_at"],
        "ended_at": evidence["ended_at"],
        "graded_at": utc_now(),
        "outcome": outcome.outcome,
        "scored": outcome.scored,
        "green_at": green_at(evidence, outcome.outcome),
        "performance": performance(graded, ending, outcome.check_passed, outcome.outcome),
        "versions": evidence["versions"],
        "isolation": evidence["isolation"],
        "numbers": {"grader": spec["grader"], "parser": spec["parser"]},
        "notes": [*graded.notes, *graded.judgement.degraded, *crowded(highest_load(evidence["platform"]))],
        "earlier_faults": evidence["earlier_faults"],
        "load": highest_load(evidence["platform"]),
        "artifacts": {},
    }


def green_at(evidence: Json, outcome: str | None) -> str | None:
    """Wall-clock time at the end of a green attempt's work."""
    if outcome != "green":
        return None
    return stamp(parse(evidence["started_at"]) + timedelta(seconds=evidence["agent_seconds"]))


def highest_load(platform: Json) -> float | None:
    """Load per CPU at the start or the end, the higher."""
    known = [platform[key] for key in ("load_start", "load_end") if platform[key] is not None]
    return max(known, default=None)


def crowded(load: float | None) -> list[str]:
    """A note when the machine was so busy that times may be longer than on a quiet one."""
    if load is None or load <= CROWDED:
        return []
    return [f"load {load:.1f} per CPU while the agent ran: its times may be longer than on a quiet machine"]


def performance(graded: Graded, ending: str, check_passed: bool | None, outcome: str | None) -> Json:
    """The five sections."""
    seen, events, evidence = graded.seen, graded.events, graded.evidence
    return {
        "execution": execution(graded, ending),
        "correctness": correctness(graded, check_passed),
        "compliance": compliance(evidence, seen.trace, events, seen.requests),
        "effort": effort(seen),
        "time_cost": time_cost(graded, outcome),
    }


def execution(graded: Graded, ending: str) -> Json:
    """How the program ran and what its stream covers."""
    process, coverage = graded.evidence["process"], graded.events["coverage"]
    facts = graded.evidence["instruments"]
    reason = graded.fault.message if graded.fault else graded.evidence["ending_reason"]
    return {
        **blank("result/execution"),
        "ending": ending,
        "ending_reason": reason,
        **{k: process[k] for k in ("exit_status", "signal", "timed_out", "lingered", "survivors_killed")},
        "terminal_event": coverage["terminal_event"],
        "malformed_lines": len(coverage["malformed_lines"]),
        "incomplete_tool_results": coverage["incomplete_tool_results"],
        "unknown_events": sum(coverage["unknown_events"].values()),
        "errors": len(graded.events["errors"]),
        "warnings": len(graded.events["warnings"]),
        "stdout_truncated": process["stdout_kept_bytes"] < process["stdout_bytes"],
        "agent_said_done": graded.events["stop"] == "completed",
        "trace_shim": facts.get("trace", {}).get("shim"),
        "trace_bypassed": graded.bypassed,
    }


def correctness(graded: Graded, check_passed: bool | None) -> Json:
    """The verdict, check by check."""
    judgement, evidence = graded.judgement, graded.evidence
    by_kind = {
        kind: [c["passed"] for c in judgement.checks if c["kind"] == kind] for kind in ("milestone", "minefield")
    }
    known = judgement.verdict != "verifier_error"
    return {
        "verdict": judgement.verdict,
        "check_passed": check_passed,
        "checks": judgement.checks,
        "passed": sum(c["passed"] for c in judgement.checks) if known else None,
        "total": len(judgement.checks) if known else None,
        "milestones_passed": sum(by_kind["milestone"]) if known else None,
        "milestones_total": len(by_kind["milestone"]) if known else None,
        "minefields_passed": sum(by_kind["minefield"]) if known else None,
        "minefields_total": len(by_kind["minefield"]) if known else None,
        "protected_ok": not evidence["protected_changed"],
        "acceptance_untouched": not evidence["acceptance_changed"],
        "suspect": judgement.suspect,
        "verifier_error": judgement.error,
        "verifier_seconds": judgement.seconds,
        "corrected": judgement.raw_verdict is not None,
        "raw_verdict": judgement.raw_verdict,
    }


def time_cost(graded: Graded, outcome: str | None) -> Json:
    """Seconds of the agent's wall clock; money and tokens as the CLI or the endpoint said."""
    evidence, events = graded.evidence, graded.events
    nothing = decide([], 0.0)
    return {
        **blank("result/time_cost"),
        "agent_seconds": evidence["agent_seconds"],
        "wall_seconds": evidence["wall_seconds"],
        "seconds_to_green": evidence["agent_seconds"] if outcome == "green" else None,
        "first_green": graded.replays.first_green or nothing,
        "first_acceptance_green": graded.replays.first_acceptance_green or {**nothing, "reason": "no green command"},
        **time_parts(graded.seen),
        "api_seconds": events["api_seconds"],
        "turns": events["turns"],
        "cost_usd": events["cost_usd"],
        "cost_source": events["cost_source"],
        "tokens": events["tokens"],
        "tokens_lower_bound": events["tokens_lower_bound"],
    }
