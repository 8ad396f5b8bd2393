"""Names cut to a width so that different ones stay different: at the end, else in the middle, else numbered."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable


def columns(line: str) -> int:
    """Terminal columns of a text: wide characters take two, combining ones none."""
    return sum(_width(letter) for letter in line)


def _width(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def cut(line: str, width: int, mark: str = "~") -> str:
    """At most `width` columns; a cut line ends in the mark."""
    return line if columns(line) <= width else _head(line, width - 1) + mark


def _head(line: str, width: int) -> str:
    kept, used = [], 0
    for letter in line:
        used += _width(letter)
        if used > width:
            break
        kept.append(letter)
    return "".join(kept)


def _middle(line: str, width: int, mark: str) -> str:
    """The beginning and the end of a line that is too wide."""
    if columns(line) <= width:
        return line
    left = (width - 1) // 2
    tail = _head(line[::-1], width - 1 - left)[::-1]
    while tail and _width(tail[0]) == 0:  # what combined with a letter that is gone
        tail = tail[1:]
    return _head(line, left) + mark + tail


def names(texts: Iterable[str], width: int, mark: str = "~") -> dict[str, str]:
    """Each different text -> at most `width` columns of it, all different; numbers follow the order of the texts."""
    wanted = list(dict.fromkeys(texts))
    found = {text: cut(text, width, mark) for text in wanted}
    for text in _alike(found):
        found[text] = _middle(text, width, mark)
    for text in _alike(found):
        number, taken = 1, {shown for other, shown in found.items() if other != text}
        while (tried := cut(text, width - len(f"{mark}{number}"), mark).rstrip(mark) + f"{mark}{number}") in taken:
            number += 1
        found[text] = tried
    return found


def _alike(found: dict[str, str]) -> list[str]:
    """The texts whose short form another one has too."""
    counts = Counter(found.values())
    return [text for text, shown in found.items() if counts[shown] > 1]
