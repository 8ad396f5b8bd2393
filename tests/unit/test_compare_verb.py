"""fairtrial compare on fabricated results trees."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from fairtrial.analysis import recipes
from fairtrial.cli import compare as verb
from fairtrial.contracts import records
from fairtrial.contracts.errors import UserError


def module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / f"{name}.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found  # its dataclasses look themselves up there
    spec.loader.exec_module(found)
    return found


fabricate = module("fabricate")


def run(*given: str) -> int:
    parser = argparse.ArgumentParser()
    verb.options(parser)
    return verb.run(parser.parse_args(given))


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two results trees of one arm before and after an update, and one of two arms."""
    root = tmp_path_factory.mktemp("trees")
    plain = fabricate.Settings(side_files=False)
    for name, passes, version in (("before", 0.3, "2.1.0"), ("after", 0.99, "2.2.0")):
        arm = fabricate.Arm("alder", "m", passes, version=version)
        fabricate.tree(root / name / "results", tasks=8, repetitions=4, arms=(arm,), settings=plain)
        recipes.write_manifest(root / f"{name}.json", recipes.on_disk(root / name / "results"), name)
    arms = (fabricate.Arm("alder", "m", 0.9), fabricate.Arm("birch", "m", 0.9))
    fabricate.tree(root / "both" / "results", tasks=6, repetitions=2, arms=arms, settings=plain)
    return root


def test_before_and_after(trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two manifests are matched by arm; the one changed thing is named and the figures are written."""
    out = trees / "comparison.json"
    assert run("--before", str(trees / "before.json"), "--after", str(trees / "after.json"), "--out", str(out)) == 0
    (pair,) = records.load(out, "comparison")["pairs"]
    assert pair["changed"] == ["harness version: 2.1.0 -> 2.2.0"] and not pair["confounded"]
    assert pair["a"]["label"].startswith("after (alder") and pair["tasks"]["common"] == 8
    assert "after (alder/git/warm/m)" in capsys.readouterr().out


def test_two_arms_of_an_experiment(trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Arms are named by any part; without tables yet they are made from what there is."""
    assert run("alder", "birch", "--results", str(trees / "both" / "results")) == 0
    assert "6 tasks" in capsys.readouterr().out
    assert run("--versions", "--results", str(trees / "both" / "results")) == 0
    assert "no arm was measured with two harness versions" in capsys.readouterr().out


def test_versions_within_a_selection(trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A manifest of both trees shows the newest version against the earlier one."""
    both = trees / "all.json"
    records.dump(both, {"schema_version": 1, "attempts": ["before/results", "after/results"]})
    assert run("--versions", "--manifest", str(both)) == 0
    assert "2.2.0 against 2.1.0" in capsys.readouterr().out


def test_k_of_a_comparison(trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """pass^k takes the pair's attempts per task for k, or the one asked for; one that nobody reaches is not cut."""
    both, out = ["alder", "birch", "--results", str(trees / "both" / "results")], trees / "k.json"
    for given, k, tasks in (([], 2, 6), (["--k", "1"], 1, 6), (["--k", "3"], 3, 0)):
        assert run(*both, *given, "--out", str(out)) == 0
        (pair,) = records.load(out, "comparison")["pairs"]
        found, rate = pair["reliability"], pair["pass_rate"]
        assert (found["k"], found["tasks"]) == (k, tasks)
        assert (found["a"] is None) is (tasks == 0)
        assert k != 1 or [found["a"], found["b"]] == pytest.approx([rate["a"], rate["b"]])
        assert f"pass^{k}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "given",
    [
        [],
        ["alder"],
        ["alder", "birch", "--k", "0"],
        ["--before", "x.json"],
        ["alder", "birch", "--versions"],
        ["a", "b", "c"],
    ],
)
def test_wrong_use(given: list[str]) -> None:
    """Anything but two arms, a before and an after, or --versions is a usage error of one line."""
    with pytest.raises(UserError) as error:
        run(*given)
    assert "\n" not in str(error.value)
