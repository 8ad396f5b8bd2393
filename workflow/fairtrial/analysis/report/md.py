"""Small builders of Markdown for a pull request; a text cannot break out of its cell or become markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fairtrial.analysis.report.html import visible

_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|~>-])")


def esc(text: object) -> str:
    """One line of text as Markdown that shows exactly that text."""
    shown = " ".join(visible(str(text)).split())
    shown = shown.replace("&", "&amp;").replace("<", "&lt;")
    shown = _MARKS.sub(r"\\\1", shown)
    # without the colon's neighbour no bare address becomes a link
    return shown.replace("://", ":&#47;/").replace("www.", "www&#46;").replace("@", "&#64;")


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A pipe table; the first column is text, the others stand right."""
    lines = [_row(heads), "|" + "|".join(["---"] + ["---:"] * (len(heads) - 1)) + "|"]
    return "\n".join([*lines, *(_row(row) for row in rows)])


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(esc(cell) for cell in cells) + " |"
