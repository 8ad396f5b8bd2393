"""Each rule from hand-made evidence; what was not captured is not checked."""

from __future__ import annotations

from fairtrial.contracts.schema import problems
from fairtrial.grading.compliance import compliance

EVIDENCE = {"protected_changed": [], "acceptance_changed": [], "instruments": {"trace": {"span_mismatch": 0}}}


def _line(argv, **more):
    return {
        "argv": argv,
        "started_ns": 1_500_000_000,
        "refused": False,
        "proven": True,
        "parent_is_main": False,
        **more,
    }


def test_nothing_captured_leaves_only_the_files_checked():
    """Without trace and requests their counts are null and their rules are not in `checked`."""
    found = compliance(EVIDENCE, None, {}, None)
    assert found["checked"] == ["acceptance_files", "protected_files"] and found["violations"] == []
    assert (found["policy_refusals"], found["foreign_requests"], found["protected_changed"]) == (None, None, 0)
    assert problems(found, "result/compliance") == []


def test_every_broken_rule_is_listed_with_its_time():
    """Refusals, foreign requests, changed files and forged records, in order of time."""
    evidence = {
        "protected_changed": ["LICENSE"], "acceptance_changed": ["acceptance/t.py"],
        "instruments": {"trace": {"span_mismatch": 2}},
    }  # fmt: skip
    trace = [
        _line(["git", "push", "o\udcff"], refused=True),
        _line(["git", "x"], proven=False, started_ns=2),
        _line(["ls"]),
    ]
    requests = [{"path": "/v1/a", "started_ns": 1, "main_process": main} for main in (False, True)]
    found = compliance(evidence, trace, {}, requests)
    assert [v["rule"] for v in found["violations"]] == [
        "foreign_requests", "honest_trace", "policy", "acceptance_files", "honest_trace", "protected_files",
    ]  # fmt: skip
    assert found["violations"][2]["detail"].isascii() and found["violations"][2]["at_seconds"] == 1.5
    counts = ("policy_refusals", "foreign_requests", "protected_changed", "acceptance_changed")
    assert [found[name] for name in counts] == [1, 1, 1, 1]
    assert problems(found, "result/compliance") == []


def test_requests_whose_caller_is_unknown_are_not_checked():
    """A meter that cannot tell who called proves nothing either way."""
    found = compliance(EVIDENCE, [], {}, [{"path": "/", "started_ns": 1, "main_process": None}])
    assert found["foreign_requests"] is None and "foreign_requests" not in found["checked"]
    assert found["policy_refusals"] == 0


def test_a_sender_that_was_gone_is_not_accused():
    """A record whose sender could not be looked at is not proven, and no broken rule either."""
    found = compliance(EVIDENCE, [_line(["git", "x"], proven=False, parent_is_main=None)], {}, None)
    assert found["violations"] == [] and "honest_trace" in found["checked"]
