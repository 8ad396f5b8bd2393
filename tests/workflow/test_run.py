"""The pipeline as a Snakemake user runs it."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from tests.lab import CHECKOUT, Lab


def test_a_small_matrix_ends_with_every_file_of_rule_all(lab: Lab) -> None:
    """One command gives evidence, results, tables, scorecard and report; a second one has nothing to do."""
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert [r["outcome"] for r in lab.graded()] == ["green"] * 4
    for name in (
        "dataset/attempts.parquet",
        "dataset/time-to-green.csv",
        "scorecard/scorecard.csv",
        "report/index.html",
    ):
        assert (lab.results / "default" / name).stat().st_size > 0
    assert lab.planned() == {}


def test_more_repetitions_run_only_the_new_ones_and_fewer_run_none(lab: Lab) -> None:
    """O20: repetitions 2, then 3, then 1: each attempt runs once."""
    lab.snakemake()
    before = lab.seals()
    assert lab.planned("--config", "repetitions=3")["attempt"] == 2
    lab.snakemake("--config", "repetitions=3")
    after = lab.seals()
    assert len(after) == 6
    assert before.items() <= after.items()
    assert set(lab.planned("--config", "repetitions=1")) == {"plan", "dataset", "scorecard", "report", "all"}


def test_a_new_arm_runs_alone(lab: Lab) -> None:
    """O20: adding a harness runs its attempts only."""
    lab.snakemake()
    lab.config["harnesses"].append("noop")
    lab.write()
    planned = lab.planned()
    assert (planned["attempt"], planned["grade"]) == (4, 4)


def test_experiments_share_attempts(lab: Lab) -> None:
    """Another name: gets its own results folder and runs no attempt again."""
    lab.snakemake()
    planned = lab.planned("--config", "name=second")
    assert "attempt" not in planned
    done = lab.snakemake("--config", "name=second")
    assert done.returncode == 0
    assert (lab.results / "second" / "report" / "index.html").exists()


def test_a_read_only_checkout_serves_another_directory(tmp_path: Path) -> None:
    """`snakemake -s CHECKOUT/Snakefile --directory ELSEWHERE` works where the checkout cannot be written."""
    copy = tmp_path / "checkout"
    copy.mkdir()
    for name in ("Snakefile", "workflow", "config", "schemas", "profiles", "environment.yml"):
        source = CHECKOUT / name
        ignore = shutil.ignore_patterns("__pycache__")
        (shutil.copytree if source.is_dir() else shutil.copy)(
            source, copy / name, **({"ignore": ignore} if source.is_dir() else {})
        )
    (copy / "tasks").mkdir()
    for folder, _, files in os.walk(copy):
        for name in files:
            Path(folder, name).chmod(stat.S_IRUSR)
        Path(folder).chmod(stat.S_IRUSR | stat.S_IXUSR)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    lab = Lab(elsewhere, checkout=copy)
    done = lab.snakemake("--directory", str(elsewhere))
    for folder, _, _ in os.walk(copy):
        Path(folder).chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert len(lab.graded()) == 4


def test_an_arm_that_always_faults_leaves_the_others_their_report(lab: Lab) -> None:
    """Exit code 1, the fault's own message, three tries and no more, and the so-far report of the other arm."""
    lab.harnesses["broken"] = {
        "adapter": "command",
        "free": True,
        "options": {"template": "no-such-program-here {prompt}"},
    }
    lab.config.update(harnesses=["reference", "broken"], repetitions=4)
    lab.write()
    done = lab.snakemake("--cores", "1")
    assert done.returncode == 1
    assert "no-such-program-here is not on PATH" in done.stdout + done.stderr
    assert [r["outcome"] for r in lab.graded()] == ["green"] * 8
    assert {f["kind"] for f in lab.faults()} == {"cli_missing"}
    assert len(lab.faults()) == 3
    page = (lab.results / "default" / "so-far" / "report" / "report.md").read_text()
    assert "8 of 16 attempts" in page


def test_a_failed_agent_is_a_result(lab: Lab) -> None:
    """O22: exit status 7 is an agent_error with all evidence kept; the job is green and the others go on."""
    lab.harnesses["seven"] = {
        "adapter": "command", "free": True, "network": "none",
        "options": {"template": ["sh", "-c", "echo working; echo partial > answer.txt; exit 7"], "output": "none"},
    }  # fmt: skip
    lab.config.update(harnesses=["seven", "reference"], repetitions=1)
    lab.write()
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    results = {(r["harness"], r["task"]): r for r in lab.graded()}
    assert results["seven", "one"]["outcome"] == "agent_error"
    assert results["seven", "one"]["performance"]["execution"]["exit_status"] == 7
    assert results["reference", "two"]["outcome"] == "green"
    folder = next(lab.results.glob("attempts/tiny/one/seven/*/*/r1"))
    assert (folder / "agent-stdout.txt").read_text() == "working\n"
    assert "+partial" in (folder / "workspace.patch").read_text()


def test_matrix_json_is_the_denominator(lab: Lab) -> None:
    """Attempts that were never run are rows of the CSV with empty measurements."""
    lab.fairtrial("plan", "--write", "--configfile", "config.yaml")
    done = lab.fairtrial("report", "--so-far")
    assert done.returncode == 0, done.stderr
    lines = (lab.results / "default" / "so-far" / "dataset" / "time-to-green.csv").read_text().splitlines()
    assert len(lines) == 5
    assert all("not_run" in line for line in lines[1:])


def test_lint_is_clean(lab: Lab) -> None:
    """`snakemake --lint` finds nothing."""
    done = lab.snakemake("--lint")
    assert done.returncode == 0
    assert "Congratulations, your workflow is in a good condition!" in done.stdout + done.stderr
