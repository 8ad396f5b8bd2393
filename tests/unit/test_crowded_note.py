"""A busy machine bends times, so an attempt says when it ran on one."""

from __future__ import annotations

import pytest
from fairtrial.grading.record import crowded, highest_load


@pytest.mark.parametrize(("start", "end", "noted"), [(0.2, 1.5, False), (0.2, 1.6, True), (2.0, None, True)])
def test_a_load_above_one_and_a_half_per_cpu_is_noted(start: float, end: float | None, noted: bool) -> None:
    """At the start or at the end; exactly 1.5 is not above it."""
    notes = crowded(highest_load({"load_start": start, "load_end": end}))
    assert bool(notes) is noted
    assert all("per CPU" in note for note in notes)


def test_an_unknown_load_says_nothing() -> None:
    """Where the system has no load average there is no note."""
    assert crowded(highest_load({"load_start": None, "load_end": None})) == []
