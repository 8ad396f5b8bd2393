"""Process signals: columns of the tables, of the scorecard and of the report, each called a heuristic."""

from __future__ import annotations

from typing import Any

import pandas as pd
from fairtrial.analysis.metrics import signals
from fairtrial.analysis.report.sections import effort
from fairtrial.contracts import schema

NAMES = ("green_checked", "blind_retries", "work_after_green_seconds", "empty_diff_exit_0", "early_stop_signals")


def attempts(*rows: tuple[str, Any, Any, Any, Any, Any]) -> pd.DataFrame:
    """Rows of (outcome, *NAMES)."""
    return pd.DataFrame([dict(zip(("outcome", *NAMES), row, strict=True)) for row in rows])


def test_they_are_counted_over_the_attempts_that_say() -> None:
    """Unchecked and seconds after green are of green attempts, the rest of all; null counts nowhere."""
    frame = attempts(
        ("green", False, 2, 1.5, False, "[]"),
        ("green", True, 0, 4.5, False, None),
        ("green", None, None, None, None, '["gave up"]'),
        ("not_green", False, 1, None, True, '["gave up"]'),
    )
    assert signals.compute(frame, {}) == {
        "signal_green_unchecked": 1,
        "signal_blind_retries": 2,
        "signal_after_green_seconds": 3.0,
        "signal_empty_diff_exit_0": 1,
        "signal_early_stop": 2,
    }


def test_what_nobody_captured_is_null() -> None:
    """Not 0: of an attempt without a transcript or a trace nothing is known."""
    assert set(signals.compute(attempts(("green", None, None, None, None, None)), {}).values()) == {None}
    assert set(signals.compute(attempts().reindex(columns=["outcome"]), {}).values()) == {None}


def test_each_is_called_a_heuristic() -> None:
    """In the table's schema, in the scorecard's definitions and on the page."""
    table = schema.schema("tables/attempts")["properties"]
    assert all(table[name]["description"].startswith("heuristic: ") for name in (*NAMES, "went_red_again"))
    assert all(text.endswith("(a heuristic)") for text in signals.COLUMNS.values())
    assert all(head.endswith("*") for head, _, _ in effort.SIGNALS)
    assert {key for _, key, _ in effort.SIGNALS} == {*signals.COLUMNS, "went_red_again"}
    assert "heuristics" in effort.SIGNALS_CAVEAT
