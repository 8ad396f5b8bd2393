"""Every way we know to talk a grader into green ends as failed, by the name of the check that is responsible."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from fairtrial.grading.judge import Judgement
from fairtrial.grading.outcome import outcome_of

ATTACKS: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "grading-attacks.toml").read_text(encoding="utf-8")
)
PASSING = ATTACKS["test replaced"]["acceptance/test_visible.py"]


def failed(result: Judgement) -> set[str]:
    """Names of the failed checks; the verdict must be failed, by the verifier's own words."""
    assert (result.verdict, result.error, result.suspect) == ("failed", None, False), result
    return {row["name"] for row in result.checks if not row["passed"]}


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_is_talked_into_green(judged: Callable[..., Judgement], attack: str) -> None:
    """A wrong product that attacks its grader fails on the check that asks for what it does not do."""
    assert {"totals", "answer"} <= failed(judged(ATTACKS[attack]))


@pytest.mark.parametrize(
    "attack", ["always equal", "os._exit at import", "fake report", "sitecustomize", "sys.modules"]
)
def test_attacks_fail_without_a_box_too(judged: Callable[..., Judgement], attack: str) -> None:
    """On a machine without any sandbox the black box alone still names the failed check, and says it was degraded."""
    result = judged(ATTACKS[attack], policy="none")
    assert "totals" in failed(result)
    assert any("without a box" in word for word in result.degraded)


@pytest.mark.parametrize("where", ["totals", "command-line"])
def test_a_product_that_hangs_is_a_failed_check(judged: Callable[..., Judgement], where: str) -> None:
    """A hang inside the product never becomes the verifier's error, however often it happens."""
    settings = {"command": ["verify.py"], "format": "checks", "seconds": 4}
    checks = {"totals": "milestone", "command-line": "milestone", "answer": "milestone", "kept": "minefield"}
    hang = {"calc.py": "import time\ntime.sleep(60)\n"}
    result = judged(hang, verifier_settings={**settings, "checks": checks}, check=None)
    assert where in failed(result)


@pytest.mark.parametrize("target", ["{task}/solution/answer.txt", "/dev/null", "/dev/zero", "/proc/self/environ", "/"])
def test_an_answer_that_is_a_link_is_no_answer(
    judged: Callable[..., Judgement], attacked: Path, task: Path, target: str
) -> None:
    """A link out of the workspace reaches nothing: the reference's own answer behind it does not count."""
    (attacked / "answer.txt").symlink_to(target.format(task=task))
    assert "answer" in failed(judged({}))


def test_a_link_chain_through_a_folder_is_no_answer(
    judged: Callable[..., Judgement], attacked: Path, task: Path
) -> None:
    """Links are judged by where they end, not by how they are spelled."""
    (attacked / "up").symlink_to(os.path.relpath(task, attacked))
    (attacked / "answer.txt").symlink_to("up/solution/answer.txt")
    assert "answer" in failed(judged({}))


def test_a_pipe_in_place_of_the_answer_does_not_block(judged: Callable[..., Judgement], attacked: Path) -> None:
    """A named pipe in the tree neither hangs the verifier nor passes."""
    os.mkfifo(attacked / "answer.txt")
    assert "answer" in failed(judged({}))


def test_acceptance_cannot_be_replaced_by_a_link(
    judged: Callable[..., Judgement], attacked: Path, tmp_path: Path
) -> None:
    """An acceptance folder that is a link to passing tests is replaced, and the folder behind it stays as it was."""
    other = tmp_path / "passing"
    other.mkdir()
    (other / "test_visible.py").write_text(PASSING)
    (attacked / "acceptance").symlink_to(other)
    assert "acceptance" in failed(judged({}))
    assert (other / "test_visible.py").read_text() == PASSING


def test_planted_files_are_ignored(judged: Callable[..., Judgement], attacked: Path) -> None:
    """Case O25: planted verdicts, hooks, a fake pytest and a /dev/null answer change nothing; a right one passes."""
    planted = dict.fromkeys(("reward.txt", "reward.json", "verdict.json", "result.json", ".verdict"), "1\n")
    planted |= {**ATTACKS["sitecustomize"], **ATTACKS["conftest"], **ATTACKS["pytest.ini"]}
    planted["bin/pytest"] = "#!/bin/sh\nexit 0\n"
    (attacked / "answer.txt").symlink_to("/dev/null")
    assert {"totals", "answer"} <= failed(judged(planted))
    (attacked / "answer.txt").unlink()
    right = {"calc.py": "def total(n): return sum(n)\n", "answer.txt": "SOLUTION_SENTINEL\n"}
    assert judged(right).verdict == "passed"


def test_a_right_answer_of_a_cut_off_agent_is_recorded_beside_the_timeout(judged: Callable[..., Judgement]) -> None:
    """O23: the verifier still runs, both are recorded, and the headline does not count it."""
    right = judged({"calc.py": "def total(n): return sum(n)\n", "answer.txt": "SOLUTION_SENTINEL\n"})
    found = outcome_of("timeout", right.verdict)
    assert (found.outcome, found.check_passed, found.cell) == ("timeout", True, "timeout+green")


def test_protected_files_are_restored_and_the_change_is_named(judged: Callable[..., Judgement]) -> None:
    """A changed protected file is put back before grading and reported."""
    result = judged({"notes/keep.txt": "mine now\n"})
    assert "kept" not in failed(result)
    assert result.changed == ["notes"]


def test_nothing_of_the_product_lives_on(judged: Callable[..., Judgement], tmp_path: Path) -> None:
    """After the judgement no process of the product is left and its scratch folders are gone."""
    judged(ATTACKS["background writer"])
    assert not [
        p for p in Path("/proc").glob("[0-9]*/cmdline") if b"calc" in _bytes(p) and str(tmp_path) in str(_bytes(p))
    ]
    assert list((tmp_path / "scratch").iterdir()) == []


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
