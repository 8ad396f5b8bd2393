"""What a stage command is told of the experiment; by hand, without Snakemake, the careful defaults."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from fairtrial import registry
from fairtrial.contracts.lean import field, lean

STAGE = "FAIRTRIAL_STAGE"
INVOCATION = "FAIRTRIAL_INVOCATION"


@lean(frozen=True)
class Settings:
    """One experiment's settings as far as an attempt needs them. Sizes in bytes, money in US dollars."""

    name: str = "default"
    allow: bool = False
    max_usd: float | None = None
    per_attempt_usd: float | None = None
    stop_after: int = 3
    retries: int = 0
    backoff_seconds: float = 10.0
    output_bytes: int = 50 << 20
    workspace_bytes: int = 2 << 30
    min_free_bytes: int = 1 << 30
    slots: Mapping[str, int] = field(default_factory=dict)
    free: frozenset[str] = frozenset()
    access: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    prices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # model -> price entry
    invocation: str = "by-hand"

    def is_free(self, recipe: dict[str, Any]) -> bool:
        """Costs this attempt nothing? By the experiment's own list, else by the adapter alone."""
        harness, model = recipe["harness"], recipe["model"]
        if f"{harness['name']}/{model['name']}" in self.free:
            return True
        launch: Any = registry.load("fairtrial.harnesses", harness["adapter"], "launch")
        return bool(launch.FREE or (model["rehearsal"] and recipe["isolation"]["network"] == "endpoint"))


def from_environment(environment: Mapping[str, str] | None = None) -> Settings:
    """Read what plan/snake.py put into the environment of the stage command."""
    given = os.environ if environment is None else environment
    invocation = given.get(INVOCATION) or f"by-hand-{os.getpid()}"
    text = given.get(STAGE)
    if not text:
        return Settings(invocation=invocation)
    stage = json.loads(text)
    return Settings(
        name=stage["name"],
        allow=stage["spend"]["allow"] is True,
        max_usd=stage["spend"]["max_usd"],
        per_attempt_usd=stage["spend"]["per_attempt_usd"],
        **stage["faults"],
        **stage["capture"],
        slots=stage["slots"],
        free=frozenset(stage["free"]),
        access=stage["access"],
        prices=stage.get("prices", {}),
        invocation=invocation,
    )
