"""Recipes on disk, manifests, and comparisons as text."""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from fairtrial.analysis import compare, compare_text, compare_versions, recipes
from fairtrial.cli import recipes as verb
from fairtrial.contracts import records
from fairtrial.contracts.errors import UserError


def module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / f"{name}.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


frames = module("attempt_frames")


def seal(
    root: Path, task: str, recipe: str, repetition: int, /, version: str = "1.0", day: int = 1, **over: Any
) -> Path:
    folder = root / "attempts" / "s" / task / "alder" / "m" / recipe / f"r{repetition}"
    folder.mkdir(parents=True)
    evidence = {
        "recipe": {"toolset": {"name": "git"}, "adoption": "warm", "harness": {"options": {"flag": recipe[0]}}},
        "started_at": f"2026-01-{day:02d}T10:00:00.000Z", "versions": {"harness_observed": version}, **over,
    }  # fmt: skip
    (folder / "evidence.json").write_text(json.dumps(evidence))
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "results"
    for repetition in (1, 2):
        seal(root, "one", "a" * 12, repetition, day=repetition)
        seal(root, "one", "b" * 12, repetition, version=f"{repetition}.0", day=9)
        seal(root, "two", "a" * 11 + "b", repetition, day=3)
    return root


def test_recipes_are_listed(tree: Path) -> None:
    """One entry per recipe with its attempts, span and version; attempts that differ in version are mixed."""
    found = recipes.on_disk(tree)
    assert [(one.task, one.recipe[0], len(one.attempts), one.version) for one in found] == [
        ("one", "a", 2, "1.0"), ("one", "b", 2, "mixed"), ("two", "a", 2, "1.0"),
    ]  # fmt: skip
    assert (found[0].first[:10], found[0].last[:10]) == ("2026-01-01", "2026-01-02")
    lines = list(recipes.table(found))
    assert len(lines) == 4 and lines[1].startswith("aaaaaaaaaaaa  s/one  alder")


def test_unsealed_and_torn_attempts_are_left_out(tree: Path) -> None:
    """A folder without a seal is no attempt; a torn or foreign seal is named."""
    (tree / "attempts/s/one/alder/m" / ("c" * 12) / "r1").mkdir(parents=True)
    torn = tree / "attempts/s/two/alder/m" / ("a" * 11 + "b") / "r2" / "evidence.json"
    torn.write_text('{"recipe": ')
    odd = seal(tree, "two", "d" * 12, 1, recipe=[])
    problems: list[str] = []
    found = recipes.on_disk(tree, problems)
    assert [len(one.attempts) for one in found] == [2, 2, 1]
    assert [str(torn) in problems[0], str(odd) in problems[1]] == [True, True]


def test_selecting(tree: Path) -> None:
    """By value, by prefix and by day; a prefix that fits nothing is an error that lists some."""
    found = recipes.on_disk(tree)
    assert [one.task for one in recipes.select(found, {"task": "two"})] == ["two"]
    assert len(recipes.select(found, {"harness": "alder"}, ["a"])) == 2
    assert [one.recipe[0] for one in recipes.select(found, {}, since="2026-01-05")] == ["b"]
    assert len(recipes.select(found, {}, until="2026-01-03")) == 2
    with pytest.raises(UserError, match="no recipe on disk begins so; there are aaaaaaaaaaaa"):
        recipes.select(found, {}, ["f"])


def test_manifest(tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The verb writes a valid manifest whose paths start at its own folder; an empty choice is refused."""
    parser = argparse.ArgumentParser()
    verb.options(parser)
    target = tmp_path / "choices" / "before.json"
    given = ["--results", str(tree), "--recipe", "a", "--task", "one", "--write", str(target), "--title", "before"]
    assert verb.run(parser.parse_args(given)) == 0
    record = records.load(target, "manifest")
    assert record["title"] == "before" and len(record["attempts"]) == 2
    assert all((target.parent / path / "evidence.json").exists() for path in record["attempts"])
    assert "2 attempts" in capsys.readouterr().out
    with pytest.raises(UserError, match="nothing chosen"):
        verb.run(parser.parse_args(["--results", str(tree), "--task", "none", "--write", str(target)]))


def test_recipe_records(tree: Path) -> None:
    """The frozen recipes come from the seals; a missing one leaves its change unnamed and ends nothing."""
    folders = [folder for one in recipes.on_disk(tree) for folder in one.attempts]
    found = recipes.records_of([*folders, tree / "attempts/s/x/alder/m" / ("e" * 12) / "r1"])
    assert {key[0] for key in found} == {"a", "b"} and len(found) == 3
    assert found["b" * 12]["harness"]["options"] == {"flag": "b"}


def rows(passes: list[int], **same: Any) -> list[dict[str, Any]]:
    return [row for task, c in enumerate(passes) for row in frames.cell(c, 5, task=f"t{task}", **same)]


def test_text_fits_the_terminal() -> None:
    """Every kind of record reads in 80 columns, with the sentence, the tests and the notes; nothing hostile passes."""
    page = frames.page()
    old = rows([5] * 8, harness_version="1.0") + rows([4] * 8, harness_version="1.1", harness="\x1b[31mred")
    for record in (
        compare.compare(page, "alder", "cedar"),
        compare.before_after(frames.of_rows(old), frames.of_rows(rows([0] * 8, harness_version="2.0"))),
        compare_versions.versions(frames.of_rows(rows([5] * 8) + rows([0] * 8, harness_version="2.0"))),
        compare.compare(frames.of_rows(rows([5, 5], harness="x") + rows([1, 2], harness="y")), "x", "y"),
    ):
        lines = list(compare_text.lines(record))
        assert max(map(len, lines)) <= 80 and all(line.isprintable() for line in lines)
    text = " ".join(" ".join(compare_text.lines(compare.compare(page, "alder/m-large", "birch/m-large"))).split())
    assert "are not separated" in text and "no winner" in text and "sign-flip p 1.000" in text
    few = "\n".join(lines)
    assert "no interval" in few and "Below 5 tasks" in few
