"""The table 'ending and verdict -> outcome', as one pure function."""

from __future__ import annotations

from fairtrial.contracts.lean import lean

ENDINGS = ("completed", "timeout", "budget", "agent_error", "fault_found_at_grading")
VERDICTS = ("passed", "failed", "verifier_error")
_CHECK_PASSED: dict[str, bool | None] = {"passed": True, "failed": False, "verifier_error": None}
_COMPLETED: dict[str, str | None] = {"passed": "green", "failed": "red", "verifier_error": None}
_CUT_SHORT = {"timeout": "timeout", "budget": "agent_error", "agent_error": "agent_error"}
_BESIDE = {"passed": "+green", "failed": "", "verifier_error": "+unknown"}


@lean(frozen=True)
class Outcome:
    """What an ending and a verdict come to.

    `outcome`: green, red, timeout, agent_error or None; `scored`: counts in every rate; `check_passed`: the verifier's
    word whatever the ending, None where it has none; `cell`: the text in the CSV.
    """

    outcome: str | None
    scored: bool
    check_passed: bool | None
    cell: str


def outcome_of(ending: str, verdict: str) -> Outcome:
    """The outcome of one attempt. Raises ValueError for a word that is in neither list.

    A right answer that came too late is recorded (`timeout+green`) but is not green: one rule for every cell.
    """
    if ending not in ENDINGS or verdict not in VERDICTS:
        raise ValueError(f"ending {ending!r}, verdict {verdict!r}; known: {', '.join(ENDINGS)}; {', '.join(VERDICTS)}")
    check_passed = _CHECK_PASSED[verdict]
    if ending == "fault_found_at_grading":
        return Outcome(None, False, check_passed, "unscored")
    if ending == "completed":
        outcome = _COMPLETED[verdict]
        return Outcome(outcome, outcome is not None, check_passed, outcome or "unscored")
    return Outcome(_CUT_SHORT[ending], True, check_passed, _CUT_SHORT[ending] + _BESIDE[verdict])
