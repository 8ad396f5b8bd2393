"""What may change without costing anything: only what can change an outcome is a new attempt (O19)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.lab import CHECKOUT, Lab

COMMENTED = {".py": "\n# a comment\n", ".smk": "\n# a comment\n", ".yaml": "\n# a comment\n", ".yml": "\n# a comment\n"}


def tracked() -> list[str]:
    """Every tracked .py, .smk and YAML file outside tasks/."""
    listed = subprocess.run(["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    return [n for n in listed.splitlines() if Path(n).suffix in COMMENTED and not n.startswith("tasks/")]


@pytest.fixture
def finished(tmp_path: Path) -> Lab:
    """A finished matrix run from a copy of the checkout, so that its files can be edited."""
    copy = tmp_path / "checkout"
    for name in [*tracked(), "Snakefile"]:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / name, copy / name)
    for name in ("schemas", "workflow/report"):
        shutil.copytree(CHECKOUT / name, copy / name, dirs_exist_ok=True)
    for path in (CHECKOUT / "workflow" / "fairtrial").rglob("*"):  # package data: shim sources, page parts, skills
        if path.is_file() and "__pycache__" not in path.parts:
            target = copy / path.relative_to(CHECKOUT)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy(path, target)
    (copy / "tasks").mkdir(exist_ok=True)
    work = tmp_path / "work"
    work.mkdir()
    lab = Lab(work, checkout=copy, config={"repetitions": 1, "harnesses": ["reference", "noop"]})
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    return lab


def test_a_comment_in_any_file_of_the_checkout_runs_no_attempt_and_no_grade(finished: Lab) -> None:
    """Code, rules, configuration and profile: with a comment appended to each of them a dry run lists neither."""
    for name in [*tracked(), "Snakefile"]:
        with (finished.checkout / name).open("a") as stream:
            stream.write(COMMENTED.get(Path(name).suffix, "\n# a comment\n"))
    planned = finished.planned()
    assert "attempt" not in planned
    assert "grade" not in planned


def test_times_and_places_do_not_count(finished: Lab) -> None:
    """Touched files, copied task folders, a lost .snakemake and a moved working directory run nothing."""
    for path in (finished.folder / "suites").rglob("*"):
        os.utime(path)
    assert "attempt" not in finished.planned()
    shutil.rmtree(finished.folder / ".snakemake")
    moved = finished.folder.with_name("moved")
    finished.folder.rename(moved)
    finished.folder = moved
    planned = finished.planned()
    assert "attempt" not in planned
    assert "grade" not in planned


# file of a package -> (new attempts, new grades) of the four cells (two tasks, two harnesses); only `one` is edited
EDITS = {
    "prompt.md": (2, 2),
    "workspace/notes.txt": (2, 2),
    "workspace/added.txt": (2, 2),
    "acceptance/visible.txt": (2, 2),
    "verifier/verify.py": (0, 2),
    "solution/answer.txt": (1, 2),
    "README.md": (0, 0),
    "wrong/empty/expect.toml": (0, 0),
    "wrong/off-by-one/answer.txt": (0, 0),
}


def test_each_file_of_a_task_package_reruns_exactly_what_it_can_change(finished: Lab) -> None:
    """Prompt, workspace, acceptance: attempts. Verifier: grades. Solution: what plays it. README, wrong/: nothing."""
    package = finished.folder / "suites" / "tiny" / "one"
    for name, (attempts, grades) in EDITS.items():
        target = package / name
        before = target.read_bytes() if target.exists() else None
        target.parent.mkdir(exist_ok=True)
        target.write_bytes((before or b"") + b"\n# edited\n")
        planned = finished.planned()
        assert (planned.get("attempt", 0), planned.get("grade", 0)) == (attempts, grades), name
        target.write_bytes(before) if before is not None else target.unlink()
        if name.startswith("acceptance"):
            target.parent.rmdir()
    assert finished.planned() == {}


TOML_EDITS = {
    "wall_seconds = 20": ("wall_seconds = 21", (2, 2)),
    'check = "test -s answer.txt"': ('check = "test -f answer.txt"', (0, 2)),
    'title = "Write the answer"': ('title = "Another title"', (0, 0)),
    'answer = "milestone"': ('answer = "minefield"', (0, 2)),
}


def test_each_setting_of_a_task_reruns_exactly_what_it_can_change(finished: Lab) -> None:
    """A budget is a new attempt, check settings a new grade, a title neither."""
    toml = finished.folder / "suites" / "tiny" / "one" / "task.toml"
    original = toml.read_text()
    for old, (new, wanted) in TOML_EDITS.items():
        toml.write_text(original.replace(old, new))
        planned = finished.planned()
        assert (planned.get("attempt", 0), planned.get("grade", 0)) == wanted, new


def test_a_changed_verifier_grades_again_without_an_agent(finished: Lab) -> None:
    """Both grades stay on disk, evidence is untouched, and a reverted verifier finds its old grade."""
    before = finished.seals()
    verifier = finished.folder / "suites" / "tiny" / "one" / "verifier" / "verify.py"
    original = verifier.read_text()
    verifier.write_text(original.replace("42", "41"))
    done = finished.snakemake()
    assert done.returncode == 0, done.stderr
    assert finished.seals() == before
    outcomes = [r["outcome"] for r in finished.graded() if r["task"] == "one" and r["harness"] == "reference"]
    assert sorted(outcomes) == ["green", "red"]
    verifier.write_text(original)
    assert "grade" not in finished.planned()


def test_prices_touch_costs_and_reports_only(finished: Lab) -> None:
    """A price change rebuilds tables, scorecard and report."""
    finished.models["none"]["price"] = {"input": 1.0, "output": 2.0, "date": "2026-11-01"}
    finished.write()
    assert set(finished.planned()) == {"dataset", "scorecard", "report", "all"}


def test_a_model_and_each_of_its_parameters_is_a_cell_of_its_own(finished: Lab) -> None:
    """O19, O20: a model that is added, renamed at its provider or given an option runs its own attempts only."""
    finished.models["second"] = {"id": "large-1"}
    finished.config["models"] = ["none", "second"]
    for change in ({}, {"id": "large-2"}, {"options": {"effort": "high"}}):
        finished.models["second"].update(change)
        finished.write()
        planned = finished.planned()
        assert (planned["attempt"], planned["grade"]) == (4, 4), change
    finished.config["models"] = ["none"]
    finished.models["none"]["options"] = {"effort": "high"}
    finished.write()
    assert finished.planned()["attempt"] == 4


def test_a_newer_report_renders_again_and_nothing_else_runs(finished: Lab) -> None:
    """O19: a release whose pages differ raises REPORT; tables, scorecard, grades and attempts stay."""
    code = finished.checkout / "workflow" / "fairtrial" / "plan" / "snake.py"
    raised, found = re.subn(r"(?m)^REPORT = \d+$", "REPORT = 999", code.read_text())
    assert found == 1
    code.write_text(raised)
    assert set(finished.planned()) == {"report", "all"}


def test_an_excluded_attempt_rebuilds_the_tables_and_nothing_else(finished: Lab) -> None:
    """exclude needs no other command than the usual one; undo brings the attempt back."""
    attempt = next(iter(finished.seals())).removeprefix("attempts/").removesuffix("/evidence.json")
    assert finished.fairtrial("exclude", attempt).returncode == 2
    assert finished.fairtrial("exclude", attempt, "--reason", "wrong machine").returncode == 0
    assert set(finished.planned()) == {"dataset", "scorecard", "report", "all"}
    finished.snakemake()
    csv = (finished.results / "default" / "dataset" / "time-to-green.csv").read_text()
    assert csv.count("excluded=wrong machine") == 1
    assert finished.fairtrial("exclude", attempt, "--undo").returncode == 0
    assert "dataset" in finished.planned()


@pytest.mark.parametrize(
    "options",
    [["-F"], ["-R", "attempt"], ["--rerun-incomplete"], ["--workflow-profile", "none"]],
    ids=["-F", "-R attempt", "--rerun-incomplete", "no profile"],
)
def test_no_option_starts_an_agent_over_a_seal(tmp_path: Path, options: list[str]) -> None:
    """Whatever Snakemake is told to run again, sealed attempts only publish their seal again."""
    lab = Lab(tmp_path, config={"repetitions": 1})
    lab.config["harnesses"] = [lab.counted()]
    lab.write()
    assert lab.snakemake().returncode == 0
    before, starts = lab.seals(), lab.starts()
    done = lab.snakemake(*options)
    assert done.returncode == 0, done.stderr
    assert lab.seals() == before
    assert lab.starts() == starts == 2


def test_deleted_outputs_come_back_from_the_seal(tmp_path: Path) -> None:
    """--delete-all-output, then the usual command: no agent starts, every output is there again."""
    lab = Lab(tmp_path, config={"repetitions": 1})
    lab.config["harnesses"] = [lab.counted()]
    lab.write()
    lab.snakemake()
    before = lab.seals()
    assert lab.snakemake("--delete-all-output").returncode == 0
    assert not list(lab.results.glob("attempts/*/*/*/*/*/r*/sealed"))
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert lab.seals() == before
    assert lab.starts() == 2
    assert len(lab.graded()) == 2


def test_a_lost_seal_is_not_paid_again_by_itself(tmp_path: Path) -> None:
    """A grade without its seal: refused with the command that pays again; redo does so, with its reason kept."""
    lab = Lab(tmp_path, config={"repetitions": 1, "tasks": ["one"]})
    lab.config["harnesses"] = [lab.counted()]
    lab.write()
    lab.snakemake()
    seal = next(lab.results.glob("attempts/*/*/*/*/*/r1/evidence.json"))
    seal.unlink()
    (seal.parent / "sealed").unlink()
    assert lab.planned() == {}
    done = lab.snakemake("-R", "attempt")
    assert done.returncode == 1
    assert "fairtrial redo" in done.stdout + done.stderr
    assert lab.starts() == 1
    attempt = str(seal.parent.relative_to(lab.results / "attempts"))
    assert lab.fairtrial("redo", attempt, "--reason", "lost on a disk").returncode == 0
    assert lab.snakemake().returncode == 0
    assert lab.starts() == 2
    assert '"redone": "lost on a disk"' in seal.read_text()


def test_a_task_edited_while_its_attempts_wait_cannot_change_them(tmp_path: Path) -> None:
    """Attempts read frozen files: an edit during the run is no part of it."""
    lab = Lab(tmp_path, config={"repetitions": 3, "tasks": ["one"]})
    lab.config["harnesses"] = [lab.counted(seconds=1.0)]
    lab.write()
    process = lab.start("--cores", "1")
    deadline = time.monotonic() + 60
    while lab.starts() < 1 and time.monotonic() < deadline:
        time.sleep(0.05)
    verifier = lab.folder / "suites" / "tiny" / "one" / "verifier" / "verify.py"
    verifier.write_text("raise SystemExit('edited')\n")
    assert process.wait(120) == 0
    assert [r["outcome"] for r in lab.graded()] == ["green"] * 3
