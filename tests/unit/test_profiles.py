"""The shipped Snakemake profiles and the extras they need."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml
from fairtrial.plan.config import DEFAULTS, Config
from fairtrial.plan.matrix import Matrix
from fairtrial.plan.snake import Plan

from tests.lab import CHECKOUT, Lab

DEFAULT = yaml.safe_load((CHECKOUT / "profiles/default/config.yaml").read_text())
NAMES = sorted(path.parent.name for path in (CHECKOUT / "workflow/profiles").glob("*/config.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_repeats_the_safe_keys(name: str) -> None:
    """Every key of profiles/default stands in each shipped profile with the same value, and nothing is requeued."""
    profile = yaml.safe_load((CHECKOUT / f"workflow/profiles/{name}/config.yaml").read_text())
    assert DEFAULT.items() <= profile.items()
    assert profile["executor"] == name
    assert profile["retries"] == 0
    assert not {"rerun-incomplete", "workflow-profile", "restart-times"} & profile.keys()
    assert profile.get("slurm-no-requeue") or "--no-requeue" in profile["cluster-generic-submit-cmd"]


def test_each_profile_has_a_pinned_extra() -> None:
    """`pip install fairtrial[slurm]` is what --profile workflow/profiles/slurm needs."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert NAMES == ["cluster-generic", "slurm"]
    for name in NAMES:
        (pin,) = project["optional-dependencies"][name]
        assert pin.startswith(f"snakemake-executor-plugin-{name}==")
        assert not any("executor-plugin" in dependency for dependency in project["dependencies"])


def minutes(*cells: tuple[float, bool], **faults: float) -> int:
    """Runtime asked for with cells of (wall seconds, free) and these fault settings."""
    rows = [{"wall_seconds": wall, "free": free} for wall, free in cells]
    settings = {**DEFAULTS, "faults": {**DEFAULTS["faults"], **faults}}
    return Plan("default", Matrix({"cells": rows}, []), [], Config(settings, {}, {}, [])).wall_minutes


def test_a_job_runs_as_long_as_its_attempt_may_take() -> None:
    """Runtime covers the longest wall budget with grace, further tries with their pauses, and a preflight's wait."""
    free = minutes((600, True), (60, True))
    assert free * 60 >= 600 * 1.2 + 60
    assert minutes((600, True), retries=2, backoff_seconds=60.0) * 60 >= 3 * 600 + 60 + 120
    assert minutes((600, False)) * 60 >= 600 * 1.2 + 3 * 600


def test_an_attempt_asks_for_its_cpus_and_memory(tmp_path: Path) -> None:
    """`attempt_resources` becomes threads and mem_mb of each attempt, for the local scheduler and for a cluster's."""
    lab = Lab(tmp_path, tasks=["one"], config={"repetitions": 1, "attempt_resources": {"cpus": 2, "mem_mb": 3000}})
    done = lab.snakemake("-n", "--cores", "4")
    assert done.returncode == 0, done.stderr
    said = (done.stdout + done.stderr).partition("rule attempt:")[2].partition("rule grade:")[0]
    assert "threads: 2" in said
    assert "mem_mb=3000" in said
