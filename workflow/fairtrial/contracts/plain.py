"""Text for people: a number with its noun, and foreign text on a terminal.

What a model, an agent program or a provider said moves no cursor and hides nothing.
"""

from __future__ import annotations

_KEPT = frozenset("\n\t")


def plain(text: str) -> str:
    """`text` with every control character, also those that turn the writing direction, spelled as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _KEPT else c.encode("unicode_escape").decode() for c in text)


def counted(number: int, noun: str) -> str:
    """`1 attempt`, `2 attempts`, `12,000 attempts`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
