"""Configuration files as YAML."""

from __future__ import annotations

import pytest
from fairtrial.contracts.errors import UserError
from fairtrial.plan.config import read_yaml


def test_a_day_stays_text(tmp_path):
    """`date: 2026-11-01` needs no quotes."""
    path = tmp_path / "models.yaml"
    path.write_text("a: {date: 2026-11-01, on: 3}\n")
    assert read_yaml(path)["a"]["date"] == "2026-11-01"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\na: 2\n", "'a' is given twice"),
        ("- a\n", "must be a mapping"),
        ("a: [\n", "not valid YAML"),
        ("", "mapping"),
    ],
)
def test_what_is_no_mapping_is_refused_with_its_file(tmp_path, text, said):
    """One message that names the file."""
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=r"x\.yaml") as caught:
        read_yaml(path)
    assert said in str(caught.value)
