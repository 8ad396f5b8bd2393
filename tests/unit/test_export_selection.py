"""Exports of a selection: attempts of several trees and of several recipes."""

from __future__ import annotations

import json
import tarfile
from xml.etree import ElementTree as ET

import pytest
from fairtrial.analysis import dataset, dataset_selection
from fairtrial.analysis.export import evidence, junit, trajectory
from fairtrial.analysis.export._source import Source
from fairtrial.paths import Results

from tests import fabricate


def chosen(tmp_path, *trees):
    """The source of everything in these trees."""
    found = dataset_selection.from_folders(trees, "--attempts")
    dataset.build(found.results, found.matrix, tmp_path / "dataset", None, found.folders)
    return Source(found.results, found.matrix, tmp_path / "dataset", folders=found.folders)


def put_prompt(root, text):
    """Freeze a prompt for every attempt of a tree; returns its digest."""
    digest = fabricate.sha(text)
    for path in root.rglob("evidence.json"):
        seal = json.loads(path.read_bytes())
        seal["recipe"]["prompt_sha256"] = digest
        path.write_text(json.dumps(seal))
    blob = Results(root).blob(digest)
    blob.parent.mkdir(parents=True)
    blob.write_text(text)
    return digest


@pytest.fixture
def trees(tmp_path):
    """Two trees of one attempt each."""
    made = []
    for arm in fabricate.ARMS_3X2[:2]:
        made.append(tmp_path / arm.harness)
        fabricate.tree(made[-1], tasks=1, repetitions=1, arms=(arm,))
    return made


def test_frozen_files_come_from_the_tree_of_each_attempt(trees, tmp_path):
    """A prompt that only the second tree holds is in its trajectory and in the bundle."""
    digests = [put_prompt(root, f"the prompt of {root.name}") for root in trees]
    source = chosen(tmp_path, *trees)
    written = trajectory.export(source, tmp_path / "t")
    assert {json.loads(path.read_bytes())["steps"][0]["message"] for path in written} == {
        f"the prompt of {root.name}" for root in trees
    }
    with tarfile.open(evidence.export(source, tmp_path / "e")[0]) as tar:
        names = " ".join(tar.getnames())
    assert all(digest in names for digest in digests)


def test_two_recipes_of_a_task_are_two_test_cases(tmp_path):
    """Readers of JUnit drop the second of two equal names, so the recipe tells them apart."""
    arm = fabricate.ARMS_3X2[0]
    roots = [tmp_path / "a", tmp_path / "b"]
    for root, more in zip(roots, ({}, {"version": "9.9"}), strict=True):
        changed = fabricate.Arm(arm.harness, arm.model, **more)
        fabricate.tree(root, tasks=1, repetitions=1, arms=(changed,))
    (path,) = junit.export(chosen(tmp_path, *roots), tmp_path / "j")
    names = [case.get("name") for case in ET.parse(path).iter("testcase")]
    assert len(names) == 2 and len(set(names)) == 2 and all(name.startswith("r1") for name in names)


def test_a_verifier_without_a_verdict_says_why(tmp_path):
    """The error of an unscored attempt is the verifier's, not how the agent ended."""
    root = tmp_path / "results"
    settings = fabricate.Settings(unscored=1, budget_share=0)
    arm = fabricate.Arm("alder", "m-large", 1.0)
    fabricate.tree(root, tasks=1, repetitions=1, arms=(arm,), settings=settings)
    (path,) = junit.export(chosen(tmp_path, root), tmp_path / "j")
    (error,) = ET.parse(path).iter("error")
    assert (error.get("type"), error.get("message")) == ("verifier_error", "the verifier ended without a report")
