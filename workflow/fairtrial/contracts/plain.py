"""Foreign text on a terminal: what a model, an agent program or a provider said moves no cursor and hides nothing."""

from __future__ import annotations

_KEPT = frozenset("\n\t")


def plain(text: str) -> str:
    """`text` with every control character, also those that turn the writing direction, spelled as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _KEPT else c.encode("unicode_escape").decode() for c in text)
