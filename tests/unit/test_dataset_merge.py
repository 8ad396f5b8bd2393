"""Shards of one experiment, merged by `fairtrial dataset --from A --from B`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from fairtrial.analysis import dataset_merge
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.schema import problems

from tests import fabricate

ARMS = fabricate.ARMS_3X2[:2]
SETTINGS = fabricate.Settings(faults=0.1, missing=0.1, excluded=0.1, redone=0.1)


def tree(root: Path, arms: tuple[fabricate.Arm, ...] = ARMS) -> Path:
    """A small tree in which everything happens."""
    fabricate.tree(root, tasks=4, repetitions=3, arms=arms, settings=SETTINGS)
    return root


def fairtrial(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return subprocess.run([sys.executable, "-m", "fairtrial", *arguments], capture_output=True, text=True, check=False)


def test_two_shards_give_the_tables_of_the_whole(tmp_path: Path) -> None:
    """An experiment run as one and run in two shards has equal tables; scorecard and report go on from the merge."""
    whole = tree(tmp_path / "whole")
    shards = [tree(tmp_path / name, (arm,)) for name, arm in zip("ab", ARMS, strict=True)]
    assert fairtrial("dataset", "--results", str(whole)).returncode == 0
    merged = tmp_path / "merged"
    done = fairtrial(
        "dataset", "--from", str(shards[0]), "--from", str(shards[1] / "default"), "--results", str(merged)
    )
    assert done.returncode == 0, done.stderr
    for table in ("attempts", "checks", "commands", "tool_calls", "requests", "faults"):
        one, other = (pq.read_table(root / f"default/dataset/{table}.parquet") for root in (whole, merged))
        assert one.equals(other), table
    assert problems(json.loads((merged / "default/matrix.json").read_bytes()), "matrix") == []
    alone = fairtrial("dataset", "--results", str(merged))
    assert (alone.returncode, "--from A --from B" in alone.stderr) == (2, True), "it would find nothing that has run"
    for verb in ("scorecard", "report"):
        done = fairtrial(verb, "--results", str(merged))
        assert done.returncode == 0, done.stderr
    said = [path.read_text(encoding="utf-8") for path in (merged / "default/report/attempts").rglob("*.html")]
    assert len(said) > 10
    assert all("git status" in text and "is not below these results" not in text for text in said)
    done = fairtrial("export", "predictions", "--results", str(merged))
    assert done.returncode == 0, done.stderr
    lines = [
        line for path in (merged / "default/export/predictions").glob("*") for line in path.read_text().splitlines()
    ]
    assert all(json.loads(line)["model_patch"] for line in lines)


def test_a_merge_does_not_take_the_place_of_an_experiment_that_was_run_here(tmp_path: Path) -> None:
    """Its plan stays as it is, so that the next run goes on with it; another tree, or --out, is named and works."""
    own, other = tree(tmp_path / "own", ARMS[:1]), tree(tmp_path / "other", ARMS[1:])
    plan = (own / "default/matrix.json").read_bytes()
    given = ("dataset", "--from", str(own), "--from", str(other))
    done = fairtrial(*given, "--results", str(own))
    assert (done.returncode, "--results merged" in done.stderr) == (2, True), done.stderr
    assert (own / "default/matrix.json").read_bytes() == plan
    assert fairtrial(*given, "--results", str(own), "--out", str(tmp_path / "tables")).returncode == 0
    for _ in range(2):
        done = fairtrial(*given, "--results", str(tmp_path / "merged"))
        assert done.returncode == 0, done.stderr


def test_the_status_of_a_merged_experiment_counts_where_its_attempts_are(tmp_path: Path) -> None:
    """Done and faults are those of the parts, and it says that nothing is run here."""
    parts = [tree(tmp_path / name, (arm,)) for name, arm in zip("ab", ARMS, strict=True)]
    merged = str(tmp_path / "merged")
    assert fairtrial("dataset", "--from", str(parts[0]), "--from", str(parts[1]), "--results", merged).returncode == 0
    done, faults = (sum(1 for part in parts for _ in part.glob(f"{kind}/*/*/*/*/*/r*/{name}"))
                    for kind, name in (("attempts", "evidence.json"), ("faults", "*/fault.json")))  # fmt: skip
    said = fairtrial("status", "--results", merged).stdout
    assert 0 < done < 24 and faults > 0
    assert f"{done} of 24 attempts done; merged from other results" in said
    assert f"faults  {faults} so far" in said
    assert "not graded" not in said


def test_a_copied_attempt_is_one_attempt_and_one_run_twice_is_refused(tmp_path: Path) -> None:
    """The same seal in two shards counts once; two seals of one attempt are an error that names it."""
    first = tree(tmp_path / "a")
    second = tmp_path / "b"
    shutil.copytree(first, second)
    merged = dataset_merge.merge([first, second], "default")
    assert len(merged.folders) == 4 * 3 * len(ARMS)
    assert len(merged.matrix["cells"]) == 4 * len(ARMS)
    sealed = next(second.glob("attempts/**/evidence.json"))
    sealed.write_bytes(sealed.read_bytes() + b"\n")
    with pytest.raises(UserError, match="must not overlap"):
        dataset_merge.merge([first, second], "default")


def test_what_a_copied_tree_holds_counts_once(tmp_path: Path) -> None:
    """Faults and the cost of what was redone are those of one tree, in the tables and in the status."""
    first = tree(tmp_path / "a")
    shutil.copytree(first, tmp_path / "b")
    merged = tmp_path / "merged"
    given = ("dataset", "--from", str(first), "--from", str(tmp_path / "b"), "--results", str(merged))
    assert fairtrial("dataset", "--results", str(first)).returncode == fairtrial(*given).returncode == 0
    for table in ("attempts", "faults"):
        one, other = (pq.read_table(root / f"default/dataset/{table}.parquet") for root in (first, merged))
        assert one.num_rows and one.equals(other), table
    faults = [next(line for line in fairtrial("status", "--results", str(root)).stdout.splitlines() if "so far" in line)
              for root in (first, merged)]  # fmt: skip
    assert faults[0] == faults[1]


def test_the_shard_that_ran_an_attempt_gives_it(tmp_path: Path) -> None:
    """Where two shards plan the same attempt and one of them ran it, that one's is taken, whatever the order."""
    first = tree(tmp_path / "a")
    second = tmp_path / "b"
    (second / "default").mkdir(parents=True)
    shutil.copy(first / "default/matrix.json", second / "default/matrix.json")
    sealed = {"/".join(path.parts[-7:-1]) for path in first.glob("attempts/**/evidence.json")}
    for order in ([second, first], [first, second]):
        merged = dataset_merge.merge(order, "default")
        assert all(first in merged.folders[key].parents for key in sealed)


def test_another_grade_and_a_missing_experiment_are_one_clear_line(tmp_path: Path) -> None:
    """Shards graded by different verifiers, or without this experiment, are refused."""
    first, second = tree(tmp_path / "a"), tree(tmp_path / "b")
    path = second / "default/matrix.json"
    record = json.loads(path.read_bytes())
    record["cells"][0]["grade_sha256"] = "0" * 64
    path.write_text(json.dumps(record))
    with pytest.raises(UserError, match="graded in another way"):
        dataset_merge.merge([first, second], "default")
    with pytest.raises(UserError, match="experiments there: default"):
        dataset_merge.merge([first], "other")
