"""Comparisons and reports of an experiment whose tables lie elsewhere, or are of an earlier plan."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairtrial.__main__ import main

from tests import fabricate

ARMS = (fabricate.Arm("alder", "m", 1.0), fabricate.Arm("birch", "m", 1.0))
SURE = fabricate.Settings(budget_share=0)


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    """What a command that works prints."""
    capsys.readouterr()
    assert main(list(arguments)) == 0
    said = capsys.readouterr()
    return said.out, said.err


def test_a_merged_experiment_so_far_reads_every_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The attempts and the faults of both parts are in the report of what there is, and in a comparison."""
    parts, merged = [tmp_path / "one", tmp_path / "two"], str(tmp_path / "merged")
    for part, arm in zip(parts, ARMS, strict=True):
        settings = fabricate.Settings(budget_share=0, faults=float(arm.harness == "birch"))
        fabricate.tree(part, tasks=1, repetitions=2, arms=(arm,), settings=settings)
    told(capsys, "dataset", "--from", str(parts[0]), "--from", str(parts[1]), "--results", merged)
    (tmp_path / "merged" / "default" / "dataset" / "attempts.parquet").unlink()
    out, _ = told(capsys, "report", "--so-far", "--results", merged)
    assert "2 of 4 attempts" in out and "4 planned, 2 scored, 2 faults." in out
    assert len(list((tmp_path / "merged" / "default" / "so-far" / "report" / "attempts").rglob("r?.html"))) == 2
    assert "alder/git/warm/m" in told(capsys, "compare", "alder", "birch", "--results", merged)[0]


def test_tables_of_an_earlier_plan_are_not_taken_for_this_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A comparison is of what there is by now; report and evidence say that the tables are older."""
    root = str(tmp_path)
    fabricate.tree(tmp_path, tasks=1, repetitions=2, arms=ARMS, settings=SURE)
    for verb in ("dataset", "scorecard", "report"):
        assert "earlier plan" not in told(capsys, verb, "--results", root)[1]
    assert "n/a: no task has that many" in told(capsys, "compare", "alder", "birch", "--k", "3", "--results", root)[0]
    fabricate.tree(tmp_path, tasks=1, repetitions=3, arms=ARMS, settings=SURE)
    assert (
        "100 % and 100 % on 1 task"
        in told(capsys, "compare", "alder", "birch", "--k", "3", "--results", root)[0].partition("pass^3")[2]
    )
    for given in (["report"], ["export", "evidence"]):
        assert "is of an earlier plan than matrix.json" in told(capsys, *given, "--results", root)[1]
