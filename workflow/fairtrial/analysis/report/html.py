"""Small builders of escaped HTML. Whatever is not Safe is text and is escaped, so hostile text stays text."""

from __future__ import annotations

import html as standard
import re
from collections.abc import Iterable, Sequence

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


class Safe(str):
    """Markup that is already escaped."""

    __slots__ = ()

    def __add__(self, other: str) -> Safe:
        """Markup and markup, or markup and text to escape: never markup that was forgotten to be one."""
        return Safe(str(self) + str(esc(other)))


def visible(text: str) -> str:
    """Control and direction characters as visible code points, so that they neither act nor vanish."""
    return _CONTROLS.sub(lambda found: f"\u27e8U+{ord(found.group()):04X}\u27e9", text.replace("\r", "\u240d"))


def esc(value: object) -> Safe:
    """Text as HTML."""
    if isinstance(value, Safe):
        return value
    text = visible(str(value)).encode("utf-8", "replace").decode()
    return Safe(standard.escape(text))


def tag(name: str, *children: object, **attributes: object) -> Safe:
    """An element; class_ and for_ lose their underscore, other underscores become hyphens, None leaves one out."""
    said = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        spelled = key.rstrip("_").replace("_", "-")
        said.append(f" {spelled}" if value is True else f' {spelled}="{esc(value)}"')
    inner = "".join(esc(child) for child in children)
    return Safe(f"<{name}{''.join(said)}>{inner}</{name}>")


def join(parts: Iterable[object], between: str = "") -> Safe:
    """Parts one after the other."""
    return Safe(esc(between).join(esc(part) for part in parts))


def lead(*parts: object) -> Safe:
    """The grey sentence below a heading."""
    return tag("p", *parts, class_="lead")


def pill(text: object, kind: str = "") -> Safe:
    """A small rounded mark: '', warn, good."""
    return tag("span", text, class_=f"pill {kind}".strip())


def scroll(body: object, label: str) -> Safe:
    """A region that scrolls sideways by itself, also by keyboard, so that the page does not."""
    return tag("div", body, class_="scroll", role="region", aria_label=label, tabindex="0")


class Cell:
    """One table cell: what is shown, what it is sorted by, and its class."""

    __slots__ = ("key", "kind", "shown")

    def __init__(self, shown: object, key: object = None, kind: str = "") -> None:
        self.shown, self.key, self.kind = shown, key, kind


def table(heads: Sequence[object], rows: Sequence[Sequence[object]], label: str, numeric: Iterable[int] = ()) -> Safe:
    """A table sortable by keyboard; the first column is its row header, `numeric` columns stand right."""
    right = set(numeric)
    head = [_head(text, place in right) for place, text in enumerate(heads)]
    body = [tag("tr", *(_cell(cell, place, place in right) for place, cell in enumerate(row))) for row in rows]
    caption = tag("caption", label, class_="unseen")
    made = tag("table", caption, tag("thead", tag("tr", *head)), tag("tbody", *body), class_="sortable")
    return scroll(made, f"Table: {label}")


def _head(text: object, right: bool) -> Safe:
    button = tag("button", text, type="button")
    return tag("th", button, scope="col", aria_sort="none", class_="n" if right else None)


def _cell(cell: object, place: int, right: bool) -> Safe:
    given = cell if isinstance(cell, Cell) else Cell(cell)
    kind = " ".join(word for word in ("n" if right else "", given.kind) if word) or None
    key = None if given.key is None else f"{given.key:.9g}" if isinstance(given.key, float) else given.key
    if place == 0:
        return tag("th", given.shown, scope="row", class_=kind, data_v=key)
    return tag("td", given.shown, class_=kind, data_v=key)


def details(summary: object, *body: object) -> Safe:
    """Something to unfold."""
    return tag("details", tag("summary", summary), *body)
