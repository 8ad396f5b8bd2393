"""Caps that the agent program does not have itself: counted here, refused in words it understands."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from fairtrial import pricing
from fairtrial.contracts.protocols import Budget
from fairtrial.instruments.endpoint.turn import Asked, Json, Said

_SPENT = ("input_uncached", "cache_read", "cache_write", "output")


@dataclass(slots=True)
class Caps:
    """What was used so far. A turn is an answered request that offered tools; a cap holds after it was reached.

    A program that never offers any (aider) has its answers counted instead.
    """

    turns: int | None
    tokens: int | None
    usd: float | None
    price: Json | None
    with_tools: int = 0
    without_tools: int = 0
    used_tokens: int = 0
    used_usd: float = 0.0
    cost_known: bool = True

    @property
    def used_turns(self) -> int:
        """Turns so far."""
        return self.with_tools or self.without_tools

    def refuses(self, offers_tools: Callable[[], bool]) -> tuple[str, str] | None:
        """(which cap, the message), or None when the request may go on."""
        if self.turns is not None and self.used_turns >= self.turns and (not self.with_tools or offers_tools()):
            return "turns", f"fairtrial turn cap reached: {self.turns} turns"
        if self.tokens is not None and self.used_tokens >= self.tokens:
            return "tokens", f"fairtrial token cap reached: {self.used_tokens} of {self.tokens} tokens"
        if self.usd is not None and self.used_usd >= self.usd:
            return "usd", f"fairtrial usd cap reached: {self.used_usd:.4f} of {self.usd:g} dollars"
        return None

    def count(self, asked: Asked, said: Said, *, whole: bool) -> float | None:
        """Count an answer, which is no turn when it broke off; its cost in US dollars.

        That is the provider's own, else by the frozen price, else None.
        """
        cost = said.cost_usd if said.cost_usd is not None else pricing.cost(said.tokens, self.price)
        if whole:
            self.with_tools += bool(asked.tools)
            self.without_tools += not asked.tools
        self.used_tokens += sum(said.tokens[name] or 0 for name in _SPENT)
        self.used_usd += cost or 0.0
        self.cost_known &= cost is not None
        return cost


def caps_for(budget: Budget, price: Json | None, own: Collection[str]) -> Caps:
    """The budget less what the program enforces itself (`own`: of turns, usd, tokens)."""
    return Caps(
        turns=None if "turns" in own else budget.turns,
        tokens=None if "tokens" in own else budget.tokens,
        usd=None if "usd" in own else budget.usd,
        price=price,
    )
