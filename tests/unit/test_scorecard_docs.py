"""docs/statistics.md and the code say the same."""

from __future__ import annotations

import re
from pathlib import Path

from fairtrial.analysis import scorecard

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"


def table() -> str:
    """The columns as the page must list them."""
    rows = ["| column | group | what it is |", "|---|---|---|"]
    groups = {name: module.GROUP for module in scorecard.metrics() for name in module.COLUMNS}
    rows += [f"| `{name}` | {groups.get(name, 'counts')} | {text} |" for name, text in scorecard.definitions().items()]
    return "\n".join(rows)


def test_columns_are_documented() -> None:
    """The page lists every column with its caption; on failure paste what is expected between the markers."""
    found = re.search(r"<!-- columns -->\n(.*?)\n<!-- /columns -->", PAGE.read_text(encoding="utf-8"), re.S)
    assert found is not None and found[1] == table()
