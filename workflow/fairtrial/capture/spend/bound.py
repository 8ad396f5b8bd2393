"""The most one attempt may cost, as far as anything promises it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from fairtrial import registry
from fairtrial.capture.settings import Settings
from fairtrial.contracts.errors import UserError


def bound(settings: Settings, recipe: Mapping[str, Any]) -> float | None:
    """US dollars: spend.per_attempt_usd, else the budget where the CLI or the endpoint enforces it, else None."""
    if settings.per_attempt_usd is not None:
        return settings.per_attempt_usd
    usd: float | None = recipe["budget"]["usd"]
    adapter: Any = registry.load("fairtrial.harnesses", recipe["harness"]["adapter"], "launch")
    enforced = "usd" in adapter.CAPS or recipe["price"] is not None  # a frozen price: the endpoint counts
    return usd if enforced else None


def refuse_unbounded(settings: Settings, recipes: Iterable[Mapping[str, Any]]) -> None:
    """A cap over attempts whose cost nothing bounds would be no cap: UserError before anything starts."""
    for key in ("max_usd", "per_attempt_usd"):
        value = getattr(settings, key)
        if value is not None and not math.isfinite(value):
            raise UserError(f"config: spend.{key}: {value} is no amount; give US dollars, such as 10.00")
    if settings.max_usd is None:
        return
    for recipe in recipes:
        usd = bound(settings, recipe)
        pair = f"{recipe['harness']['name']} x {recipe['model']['name']}"
        if usd is None:
            raise UserError(
                f"config: spend.max_usd: nothing bounds what one attempt of {pair} may cost (neither the agent program "
                "nor the endpoint stops at a budget in dollars); add spend.per_attempt_usd, the most you expect of one"
            )
        if usd > settings.max_usd:
            raise UserError(
                f"config: spend.max_usd: {settings.max_usd:.2f} is less than the {usd:.2f} USD one attempt of {pair} "
                "may cost, so none could start; raise it, or set spend.per_attempt_usd"
            )
