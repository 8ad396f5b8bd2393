"""What may not be compared, and which version or moment comes first."""

from __future__ import annotations

from typing import Any

import pytest
from fairtrial.analysis import compare, compare_text, compare_versions, recipes
from fairtrial.contracts.errors import UserError

from tests.attempt_frames import cell, of_rows


def arm(harness: str, simulated: bool) -> list[dict[str, Any]]:
    """Two attempts of each of six tasks."""
    return [row for task in "abcdef" for row in cell(1, 2, task=task, harness=harness, simulated=simulated)]


@pytest.mark.parametrize("names", [("alder", "alder"), ("mock", "alder")])
def test_a_simulated_before_meets_no_measured_after(names: tuple[str, str]) -> None:
    """Neither by an equal name nor as the only arm of each side are generated numbers compared with measured ones."""
    with pytest.raises(UserError, match=r"before: .* \(simulated\); after: alder/git/warm/m; .* never compared"):
        compare.before_after(of_rows(arm(names[0], True)), of_rows(arm(names[1], False)))


def test_a_simulated_arm_is_matched_whatever_stands_beside_it() -> None:
    """The mark that a measured arm of the same name gives it on one side does not hide its partner."""
    found = compare.before_after(of_rows(arm("alder", True) + arm("alder", False)), of_rows(arm("alder", True)))
    (pair,) = found["pairs"]
    assert pair["a"]["simulated"] and pair["b"]["simulated"]
    assert "Simulated: generated, not measured" in " ".join(compare_text.lines(found))
    assert found["only_before"] == ["alder/git/warm/m"] and found["only_after"] == []


def test_a_release_is_newer_than_its_candidates() -> None:
    """Versions as npm, Python and `git describe` spell them stand from old to new."""
    wanted = ["0.9.1", "0.10.0-nightly.20260101.abc", "0.10.0-preview.2", "0.10.0", "0.10.0-5-g12ab", "1.2.0b3",
              "1.2.0rc1", "1.2.0", "1.2.0 (X Code)", "1.2.1.dev3", "v1.2.1", "1.10"]  # fmt: skip
    assert compare_versions.ordered(sorted(wanted), None) == (wanted, "version")  # type: ignore[arg-type]


@pytest.mark.parametrize(("moment", "many"), [("T14:30Z", 1), ("T14:30:05Z", 1), ("T14:31Z", 0)])
def test_since_reads_a_moment_with_its_zone(moment: str, many: int) -> None:
    """An attempt that started within the named minute or second is not before it."""
    started = "2026-01-05T14:30:05.250Z"
    one = recipes.Recipe("a" * 12, "s", "t", "h", "m", "git", "warm", "1", started, started)
    assert len(recipes.select([one], {}, since=f"2026-01-05{moment}")) == many
