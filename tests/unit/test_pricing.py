"""Prices: tokens x table -> US dollars, and what stays unknown."""

from __future__ import annotations

from typing import Any

import pytest
from fairtrial.pricing import cost
from hypothesis import given
from hypothesis import strategies as st

PRICE = {"input": 1.25, "cache_read": 0.125, "output": 10.0, "date": "2026-11-30"}
TOKENS: dict[str, int | None] = {
    "input_uncached": 4277, "cache_read": 22272, "cache_write": None, "output": 1590, "reasoning": 1152,
}  # fmt: skip


def test_exact_amount() -> None:
    """The known amount to the last digit: cached tokens are not charged twice, reasoning is not added again."""
    assert cost(TOKENS, PRICE) == 0.02403025
    assert cost({**TOKENS, "input_uncached": 8750, "cache_read": 52480, "output": 3011}, PRICE) == 0.0476075


@pytest.mark.parametrize(
    ("tokens", "price"),
    [
        (TOKENS, None),
        ({**TOKENS, "input_uncached": None}, PRICE),
        ({**TOKENS, "output": None}, PRICE),
        ({**TOKENS, "cache_write": 1}, PRICE),
        (TOKENS, {"input": 1.25, "output": 10.0}),
        ({}, PRICE),
    ],
)
def test_unknown_stays_unknown(tokens: dict[str, int | None], price: dict[str, Any] | None) -> None:
    """No price table, no count, or tokens of a category without a price: None, never 0 and never a guess."""
    assert cost(tokens, price) is None


def test_a_category_that_was_not_used_needs_no_price() -> None:
    """Without cache tokens a table without cache prices is enough; a free model costs 0."""
    plain: dict[str, int | None] = {"input_uncached": 1_000_000, "cache_read": 0, "output": 1_000_000}
    assert cost(plain, {"input": 3, "output": 15}) == 18.0
    assert cost(plain, {"input": 0, "output": 0}) == 0.0


@given(*(st.integers(0, 10**9) for _ in range(4)))
def test_cost_is_additive(a: int, b: int, c: int, d: int) -> None:
    """The cost of a sum is the sum of the costs, to float precision."""
    one: dict[str, int | None] = {"input_uncached": a, "cache_read": b, "output": c}
    two: dict[str, int | None] = {"input_uncached": d, "cache_read": a, "output": b}
    both: dict[str, int | None] = {k: (one[k] or 0) + (two[k] or 0) for k in one}
    assert cost(both, PRICE) == pytest.approx((cost(one, PRICE) or 0) + (cost(two, PRICE) or 0))
