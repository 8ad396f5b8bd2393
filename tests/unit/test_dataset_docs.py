"""docs/data.md lists every column of every table as the schemas have them; run this file to rewrite the lists."""

from __future__ import annotations

import re
from pathlib import Path

from fairtrial.analysis import dataset_csv, dataset_tables
from fairtrial.contracts.schema import schema

PAGE = Path(__file__).parents[2] / "docs" / "data.md"


def generated(table):
    """The Markdown table of one table's columns."""
    if table == "csv":
        rows = [f"| {name} | {kind} | {said} |" for name, (kind, said) in dataset_csv.FIELDS.items()]
        return "\n".join(["| column | type | what |", "|---|---|---|", *rows])
    rows = []
    for name, spec in schema(f"tables/{table}")["properties"].items():
        volatile = " (volatile)" if spec["x-volatile"] else ""
        said = spec["description"].replace("|", "\\|")
        rows.append(f"| {name} | {spec['x-arrow']} | {said}{volatile} |")
    return "\n".join(["| column | type | what |", "|---|---|---|", *rows])


def rewritten(text):
    """The page with its generated parts made anew."""
    for table in (*dataset_tables.TABLES, "csv"):
        part = f"<!-- {table} -->\n{generated(table)}\n<!-- end -->"
        text = re.sub(rf"<!-- {table} -->\n.*?<!-- end -->", lambda _, part=part: part, text, flags=re.S)
    return text


def test_the_page_lists_the_columns():
    """What a reader is told is what the files hold."""
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"<!-- {table} -->" in text for table in (*dataset_tables.TABLES, "csv"))
    assert text == rewritten(text), "python tests/unit/test_dataset_docs.py rewrites docs/data.md"


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
