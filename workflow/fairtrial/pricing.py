"""Tokens x prices -> cost, as one pure function: used by the ledger, the estimate, the dataset and the endpoint's cap.

Prices are US dollars per million tokens, as config/models.yaml carries them: `input`, `output`, and where the provider
has them `cache_read` and `cache_write`. Unknown stays None: a category with tokens and without a price gives no cost.
There is no falling back to the input price: reads are cheaper and writes dearer than that, by the provider's choice.
Some providers charge long requests more: `up_to` says until which size of one request, in input tokens, a price holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MILLION = 1_000_000
# Token category -> price. `reasoning` is a part of `output`, so it has no price of its own.
CATEGORIES: Mapping[str, str] = {
    "input_uncached": "input",
    "cache_read": "cache_read",
    "cache_write": "cache_write",
    "output": "output",
}
_INPUT = ("input_uncached", "cache_read", "cache_write")
_NEEDED = ("input_uncached", "output")  # without these nothing can be said; a cache not spoken of was not used


def longest(requests: Iterable[Mapping[str, int | None]]) -> int | None:
    """Input tokens of the largest request, from the token counts of each; None when there are none or one says none."""
    sizes = [_size(tokens) if tokens.get("input_uncached") is not None else None for tokens in requests]
    known = [size for size in sizes if size is not None]
    return max(known) if known and len(known) == len(sizes) else None


def cost(tokens: Mapping[str, int | None], price: Mapping[str, Any] | None, largest: int | None = None) -> float | None:
    """US dollars for `tokens` (the four categories of the events record), or None when that cannot be known.

    `largest`: input tokens of the largest of the requests summed in `tokens`; None: taken for one request.
    Summed in decimal, so 4277 x 1.25 + 22272 x 0.125 + 1590 x 10.0 per million is exactly 0.02403025.
    """
    if price is None or any(tokens.get(name) is None for name in _NEEDED):
        return None
    limit = price.get("up_to")
    if limit is not None and (_size(tokens) if largest is None else largest) > limit:
        return None
    from decimal import Decimal

    total = Decimal(0)
    for category, name in CATEGORIES.items():
        count = tokens.get(category) or 0
        each = price.get(name)
        if count and each is None:
            return None
        if count:
            total += count * Decimal(str(each))
    return float(total / MILLION)


def _size(tokens: Mapping[str, int | None]) -> int:
    return sum(tokens.get(name) or 0 for name in _INPUT)
