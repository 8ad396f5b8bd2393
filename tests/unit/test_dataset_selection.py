"""Explicit choices of attempts: folders, trees and manifests, and nothing that was not chosen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from fairtrial.__main__ import main
from fairtrial.analysis import dataset, dataset_selection
from fairtrial.contracts.errors import UserError

from tests import fabricate


@pytest.fixture
def tree(tmp_path):
    """Eight attempts of two arms."""
    root = tmp_path / "results"
    fabricate.tree(root, tasks=2, repetitions=2, arms=fabricate.ARMS_3X2[:2])
    return root


def attempts(root):
    """Their folders."""
    return sorted(path.parent for path in root.glob("attempts/*/*/*/*/*/r*/evidence.json"))


def built(chosen, out):
    """The attempts of the table that a selection makes."""
    dataset.build(chosen.results, chosen.matrix, out, None, chosen.folders, left_out=chosen.left_out)
    return pq.read_table(out / "attempts.parquet").to_pylist()


def test_only_the_chosen_attempts_are_rows(tree, tmp_path):
    """Three folders are three rows, also where a repetition between them was not chosen."""
    folders = attempts(tree)[1:4]
    chosen = dataset_selection.from_folders(folders, "--attempts")
    rows = built(chosen, tmp_path / "out")
    assert {row["attempt_id"] for row in rows} == {"/".join(f.parts[-6:]) for f in folders}
    assert {row["status"] for row in rows} == {"done"}
    assert {row["label"] for row in rows} <= {"T01", "T02"}


def test_a_whole_tree_and_a_moved_attempt(tree, tmp_path):
    """A results tree gives all its attempts; a copied folder is read where it is."""
    moved = tmp_path / "elsewhere" / Path(*attempts(tree)[0].parts[-6:])
    shutil.copytree(attempts(tree)[0], moved)
    shutil.rmtree(attempts(tree)[0])
    chosen = dataset_selection.from_folders([tree, moved], "--attempts")
    assert len(built(chosen, tmp_path / "out")) == 8


def test_manifest_paths_start_at_the_manifest(tree, tmp_path):
    """A manifest may lie anywhere; its title and paths are its own."""
    folder = tmp_path / "choice"
    folder.mkdir()
    paths = [str(Path("..") / f.relative_to(tmp_path)) for f in attempts(tree)[:2]]
    (folder / "m.json").write_text(json.dumps({"schema_version": 1, "attempts": paths, "title": "two"}))
    chosen = dataset_selection.from_manifest(folder / "m.json")
    assert len(built(chosen, tmp_path / "out")) == 2


def test_the_same_attempt_twice_is_once_or_refused(tree, tmp_path):
    """Equal evidence is one attempt; different evidence under one name is never silently picked."""
    first = attempts(tree)[0]
    copy = tmp_path / "copy" / Path(*first.parts[-6:])
    shutil.copytree(first, copy)
    assert len(dataset_selection.from_folders([first, copy], "--attempts").folders) == 1
    (copy / "evidence.json").write_bytes((copy / "evidence.json").read_bytes() + b" ")
    with pytest.raises(UserError, match="same attempt with different evidence"):
        dataset_selection.from_folders([first, copy], "--attempts")


@pytest.mark.parametrize(("name", "said"), [("nowhere", "no such folder"), ("empty", "holds neither")])
def test_a_wrong_path_is_named(tree, tmp_path, name, said):
    """One line that names the path."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=said):
        dataset_selection.from_folders([tmp_path / name], "--attempts")


def test_k_is_that_of_the_matrices(tree):
    """Without --k a selection has the k of the experiments that planned its attempts; a lone copy has 1 and 3."""
    path = tree / "default" / "matrix.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"k": [2, 4]}))
    assert dataset_selection.from_folders([tree], "--attempts").matrix["k"] == [2, 4]
    path.unlink()
    assert dataset_selection.from_folders([tree], "--attempts").matrix["k"] == [1, 3]


def test_one_torn_grade_does_not_refuse_a_tree(tree, tmp_path):
    """A planned attempt whose result is torn or gone is a row that says so; all others are analysed."""
    first, second = attempts(tree)[:2]
    for path in first.glob("grades/*/result.json"):
        path.write_bytes(path.read_bytes()[:-40])
    shutil.rmtree(second / "grades")
    rows = built(dataset_selection.from_folders([tree], "--attempts"), tmp_path / "out")
    found = {row["attempt_id"]: row["status"] for row in rows}
    assert found.pop("/".join(first.parts[-6:])) == "problem"
    assert found.pop("/".join(second.parts[-6:])) in ("problem", "not_run")
    assert set(found.values()) == {"done"}
    assert "result.json" in (tmp_path / "out" / "problems.json").read_text()


def test_what_no_plan_and_no_grade_describe_is_left_out_and_named(tree, tmp_path, monkeypatch, capsys):
    """Copied attempts with a torn seal, a torn grade or a pruned transcript: the others are analysed, each is named."""
    first, second, third = attempts(tree)[:3]
    shutil.rmtree(tree / "default")
    (first / "evidence.json").write_text("{")
    next(second.glob("grades/*/result.json")).write_text("{")
    shutil.rmtree(third / "grades")
    (third / "pruned.json").write_text(json.dumps({"files": ["agent-stdout.txt"]}))
    monkeypatch.chdir(tmp_path)
    assert main(["report", "--attempts", "results", "--out", "out"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0] for line in said] == ["left out"] * 3
    assert "is no whole seal" in said[0] and "`fairtrial grade` makes one" in said[1]
    assert "none can be made, its transcript was pruned" in said[2]
    page = Path("out/report/index.html").read_text()
    assert page.count("is no whole seal") == 1
    assert json.loads(Path("out/report/report.json").read_text())["attempts"]["planned"] == 5
    assert main(["report", "--attempts", f"{first},{third}", "--out", "none"]) == 2
    assert "evidence.json: is no whole seal" in capsys.readouterr().err
