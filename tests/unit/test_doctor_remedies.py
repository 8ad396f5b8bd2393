"""`fairtrial doctor`: what is missing has a remedy beside it, also where it is no error."""

from __future__ import annotations

import pytest
from fairtrial.__main__ import main
from fairtrial.upkeep.finding import Finding
from fairtrial.upkeep.probes import toolsets


def test_what_is_not_installed_has_its_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A toolset that is absent is no failure, and the line below says how to get it; one that is there needs none."""
    found = [Finding("git", True, "version 2"), Finding("but", None, "not installed", "install it from there")]
    monkeypatch.setattr(toolsets, "probe", lambda: found)
    assert main(["doctor", "toolsets"]) == 0
    said = capsys.readouterr().out
    assert said == "toolsets:\n  ok  git: version 2\n  --  but: not installed\n      install it from there\n"
