"""Options and rules of every test: --soak, and no skips where FAIRTRIAL_NO_SKIP says that all tools are there."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """--soak runs the long versions."""
    parser.addoption("--soak", action="store_true", help="run the long versions of kill and matrix tests")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Under FAIRTRIAL_NO_SKIP=1 a skipped test fails."""
    report = yield
    if report.skipped and os.environ.get("FAIRTRIAL_NO_SKIP") == "1":
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: skipped although FAIRTRIAL_NO_SKIP=1: {report.longrepr}"
    return report


@pytest.fixture
def soak(request: pytest.FixtureRequest) -> bool:
    """Were the long versions asked for?"""
    return bool(request.config.getoption("--soak"))
