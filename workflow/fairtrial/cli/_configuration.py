"""The configuration a verb works with: the Snakefile's, a file's, or the checkout's default."""

from __future__ import annotations

from pathlib import Path

from fairtrial.contracts.schema import data_folder
from fairtrial.plan import config as plan_config
from fairtrial.plan import snake


def checkout() -> Path:
    """Where config/, tasks/ and schemas/ stand."""
    return data_folder("schemas").parent


def configuration(configfile: Path | None = None) -> plan_config.Config:
    """In a rule the one Snakemake merged; by hand `configfile` over the checkout's config/config.yaml."""
    found = snake.current()
    if found is not None and configfile is None:
        return found[0]
    base = checkout()
    default = base / "config" / "config.yaml"
    raw = plan_config.read_yaml(default) if default.exists() else {}
    if configfile is not None:
        raw = {**raw, **plan_config.read_yaml(configfile)}
    return plan_config.load(raw, base, Path.cwd())
