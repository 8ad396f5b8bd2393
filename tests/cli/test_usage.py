"""What real agent programs report on the rehearsal model: exact tokens, the solution's files, several protocols."""

from __future__ import annotations

import pytest

from tests.cli_rig import PROGRAMS, rehearse

pytestmark = pytest.mark.cli
# As in the recorded `l_usage`: 1111 uncached, 2222 cached, 333 written to the cache where the protocol has it, 44 out.
USAGE = {"input_uncached": 1111, "cache_read": 2222, "cache_write": 333, "output": 44, "reasoning": 5}
CALLS = 4  # read, write, check, done
# What each program says about four such answers; None: it does not speak of it.
WANT = {
    "claude": (4444, 8888, 1332, 176, None),
    "codex": (4444, 8888, 0, 176, 20),
    "opencode": (4444, 8888, 0, 176, 20),
    "mini-swe-agent": (4444, 8888, None, 176, 20),
}


@pytest.mark.parametrize("harness", PROGRAMS)
def test_token_totals_are_exact(tmp_path, harness):
    """The program's own totals and the endpoint's are four times what each answer said, and the attempt is green."""
    seen = rehearse(tmp_path, harness, options={"usage": USAGE}, graded=True)
    assert seen.result is not None and seen.result["outcome"] == "green", seen.reason
    own = seen.read(harness)
    assert tuple(own["tokens"].values()) == WANT[harness]
    facts = seen.evidence["instruments"]["endpoint"]
    assert (facts["turns"], facts["requests"], facts["foreign"]) == (CALLS, CALLS, 0)
    assert [facts["tokens"][name] for name in ("input_uncached", "cache_read", "output")] == [4444, 8888, 176]
    spent = seen.result["performance"]["time_cost"]
    assert spent["turns"] == CALLS and spent["api_seconds"] is not None and not spent["tokens_lower_bound"]


@pytest.mark.parametrize("harness", PROGRAMS)
def test_a_failing_draw_is_red(tmp_path, harness):
    """With a pass probability of 0 the program stops before the only file, and the attempt is completed and red."""
    seen = rehearse(tmp_path, harness, options={"pass_probability": 0.0}, graded=True)
    assert seen.result is not None
    assert (seen.became, seen.result["outcome"], seen.result["simulated"]) == ("completed", "red", True)


def test_codex_edits_by_apply_patch_for_a_model_it_knows(tmp_path):
    """codex offers apply_patch by the model's name only; the rehearsal writes through it, and the trace says edit."""
    seen = rehearse(tmp_path, "codex", model={"id": "gpt-5.5"}, options={"usage": USAGE}, graded=True)
    assert seen.result is not None and seen.result["outcome"] == "green", seen.reason
    own = seen.read("codex")
    calls = [(call["name"], call["kind"], call["is_error"], call["complete"]) for call in own["tool_calls"]]
    assert ("file_change", "edit", False, True) in calls and len(calls) == CALLS - 1
    assert tuple(own["tokens"].values()) == WANT["codex"] and not own["warnings"]
