"""The shipped Snakemake profiles and the extras they need."""

from __future__ import annotations

import tomllib

import pytest
import yaml

from tests.lab import CHECKOUT

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
