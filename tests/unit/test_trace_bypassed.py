"""What counts as past the shims: only changes that no traced command can have made."""

from __future__ import annotations

import pytest
from fairtrial.grading import buckets, vc

CLASSES = vc.classes_for("jj")


def _bypassed(entries, operations, calls):
    facts = {"commands": ["git", "jj"], "repository": {"git": entries, "jj": operations}}
    trace = [{"command": c.split()[0], "argv": c.split(), "proven": True} for c in calls]
    return buckets.bypassed(trace, facts, CLASSES)


def test_what_jj_writes_into_gits_log_is_no_bypass():
    """jj's "export from jj" in a colocated repository is told by jj's operations, and counted once."""
    assert _bypassed({"export": 3}, 3, ["jj new", "jj edit @-"]) == 0
    assert _bypassed({"export": 3}, 3, []) == 3
    assert _bypassed({"export": 2, "commit": 1}, 2, ["jj new"]) == 1


@pytest.mark.parametrize(
    ("entries", "calls", "expected"),
    [
        ({"Branch": 2}, ["git branch -m topic"], 0),
        ({"Branch": 4}, ["git branch -m topic"], 2),
        ({"unnamed": 1}, ["git update-ref HEAD HEAD~1"], 0),
        ({"moved": 1}, ["git update-ref -m moved HEAD HEAD~1"], 0),
        ({"unnamed": 1}, ["git symbolic-ref HEAD refs/heads/topic"], 0),
        ({"unnamed": 1}, ["git log"], 1),
    ],
)
def test_a_command_explains_every_entry_it_writes(entries, calls, expected):
    """A rename of the current branch writes two entries, update-ref any message, symbolic-ref one without."""
    assert _bypassed(entries, None, calls) == expected
