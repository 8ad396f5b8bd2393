"""Fixtures of the workflow tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab import Lab


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """Two tiny tasks, the reference harness, two repetitions."""
    return Lab(tmp_path)
