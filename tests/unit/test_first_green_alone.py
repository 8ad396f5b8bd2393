"""The green command's own table: decided by its own verdicts, as the verifier's is."""

from __future__ import annotations

from types import SimpleNamespace

from fairtrial.grading import rejudge
from fairtrial.grading.first_green import Replay, Row


def _decided(changed: list[bytes]) -> dict:
    """Looks red, green, green, red for the command alone, all red for the verifier; what changed from look to look."""
    trees = ["a", "b", "c", "d"]
    rows: list[Row] = [
        {"at_seconds": float(i), "tree": tree, "verdict": "red", "settled": i == 0} for i, tree in enumerate(trees)
    ]
    named = SimpleNamespace(changed=lambda before, after: {changed[trees.index(before)]})
    full = Replay(rows, dict.fromkeys(trees, "red"), len(trees))
    alone = dict(zip(trees, ["red", "green", "green", "red"], strict=True))
    made = rejudge._decided(named, full, alone, {"check": "make check"}, 10.0)
    assert made.first_green["upper_seconds"] is None
    return made.first_acceptance_green


def test_a_half_written_file_that_only_the_green_command_likes_is_uncertain() -> None:
    """Two trees in a row that the command passes confirm nothing when the second goes on in the same file."""
    assert _decided([b"f", b"f", b"f"])["certain"] is False
    assert _decided([b"f", b"g", b"f"])["certain"] is True
