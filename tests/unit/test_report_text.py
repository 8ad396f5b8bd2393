"""Any text in the report's cells, lines and markup stays text, narrow and apart from others."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest
from fairtrial.analysis.report import html, md, short, summary
from hypothesis import given
from hypothesis import strategies as st

HOSTILE = [json.loads(line)["title"] for line in
           (Path(__file__).parents[1] / "data" / "hostile" / "texts.jsonl").read_text().splitlines()]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_cells_cannot_break_out(text):
    """A pipe table keeps its columns, and no text becomes markup, a link or an element."""
    line = md.table(["a", "b"], [[text, "x"]]).splitlines()
    assert len(line) == 3
    assert len(re.findall(r"(?<!\\)\|", line[2])) == 3
    assert not re.search(r"(?<!\\)[<\[`]", line[2])


@pytest.mark.parametrize("text", [*HOSTILE, "\u65e5\u672c\u8a9e" * 40, "e\u0301" * 90, "a" * 200])
def test_terminal_lines_are_narrow_and_harmless(text):
    """At most 80 columns, however wide its characters; no control and no direction mark."""
    line = summary.clean(text)
    assert summary.columns(line) <= 80
    assert not any(unicodedata.category(letter) == "Cc" or letter in "\u202e\u2066" for letter in line)


def test_markup_is_never_made_by_adding_text():
    """Safe + text escapes the text, so a forgotten escape shows instead of acting."""
    assert html.Safe("<b>x</b>") + "<i>" == "<b>x</b>&lt;i&gt;"
    assert isinstance(html.Safe("a") + html.Safe("b"), html.Safe)


@given(st.lists(st.text(alphabet="ab\u65e5e\u0301-", max_size=40), unique=True, max_size=12), st.integers(8, 30))
def test_cut_names_are_narrow_and_different(texts, width):
    """Whatever the names: at most the width, none equal to another."""
    shown = short.names(texts, width)
    assert list(shown) == texts
    assert len(set(shown.values())) == len(texts)
    assert all(short.columns(text) <= width for text in shown.values())
