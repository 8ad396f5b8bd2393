"""The table 'ending and verdict -> outcome'."""

from __future__ import annotations

import pytest
from fairtrial.grading.outcome import ENDINGS, VERDICTS, outcome_of

TABLE = {
    ("completed", "passed"): ("green", True, True, "green"),
    ("completed", "failed"): ("red", True, False, "red"),
    ("completed", "verifier_error"): (None, False, None, "unscored"),
    ("timeout", "passed"): ("timeout", True, True, "timeout+green"),
    ("timeout", "failed"): ("timeout", True, False, "timeout"),
    ("timeout", "verifier_error"): ("timeout", True, None, "timeout+unknown"),
    ("budget", "passed"): ("agent_error", True, True, "agent_error+green"),
    ("budget", "failed"): ("agent_error", True, False, "agent_error"),
    ("budget", "verifier_error"): ("agent_error", True, None, "agent_error+unknown"),
    ("agent_error", "passed"): ("agent_error", True, True, "agent_error+green"),
    ("agent_error", "failed"): ("agent_error", True, False, "agent_error"),
    ("agent_error", "verifier_error"): ("agent_error", True, None, "agent_error+unknown"),
    ("fault_found_at_grading", "passed"): (None, False, True, "unscored"),
    ("fault_found_at_grading", "failed"): (None, False, False, "unscored"),
    ("fault_found_at_grading", "verifier_error"): (None, False, None, "unscored"),
}


@pytest.mark.parametrize(("ending", "verdict"), TABLE)
def test_every_ending_and_verdict_has_its_outcome(ending: str, verdict: str) -> None:
    """Outcome, scored, check_passed and the CSV text are exactly the table's."""
    found = outcome_of(ending, verdict)
    assert (found.outcome, found.scored, found.check_passed, found.cell) == TABLE[(ending, verdict)]


def test_the_table_is_complete() -> None:
    """No pair of known words is left out."""
    assert set(TABLE) == {(e, v) for e in ENDINGS for v in VERDICTS}


def test_only_a_completed_and_passed_attempt_is_green() -> None:
    """A fault, a late or a cut answer cannot be green because the files happen to be right (O06, O23)."""
    green = [pair for pair in TABLE if outcome_of(*pair).outcome == "green"]
    assert green == [("completed", "passed")]


def test_an_unknown_word_is_refused() -> None:
    """A typing error never becomes an outcome."""
    with pytest.raises(ValueError, match="known: completed"):
        outcome_of("complete", "passed")
