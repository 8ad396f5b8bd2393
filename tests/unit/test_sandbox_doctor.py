"""What `fairtrial doctor` says about isolation."""

from __future__ import annotations

import sys

import pytest
from fairtrial.instruments.sandbox import backends
from fairtrial.upkeep.probes import isolation


@pytest.mark.skipif(sys.platform != "linux", reason="boxes are Linux only")
def test_a_box_that_was_tried_is_fine():
    """Where a box can be built, both findings are fine and name the program."""
    findings = isolation.probe()
    assert [finding.ok for finding in findings] == [True, True]
    assert "bwrap" in findings[0].detail


@pytest.mark.skipif(sys.platform != "linux", reason="boxes are Linux only")
def test_without_a_box_there_is_a_remedy(monkeypatch):
    """Where none can be built, the finding says what is used instead, what is missing and what to do."""
    monkeypatch.setattr(backends, "_found", {})
    monkeypatch.setattr(backends, "candidates", list)
    monkeypatch.setattr(isolation, "_try_box", lambda: isolation.Finding("isolation canaries", False, "open"))
    first, _ = isolation.probe()
    assert (first.ok, "no bwrap program found" in first.detail) == (False, True)
    assert first.remedy


def test_elsewhere_it_is_of_no_concern(monkeypatch):
    """On macOS there is nothing to repair, and it is said."""
    monkeypatch.setattr(isolation.sys, "platform", "darwin")
    (only,) = isolation.probe()
    assert (only.ok, "degraded" in only.detail) == (None, True)


def test_a_closed_kernel_setting_is_named(tmp_path, monkeypatch):
    """The setting that forbids user namespaces is named with the command that allows them."""
    setting = tmp_path / "restrict"
    setting.write_text("1\n")
    monkeypatch.setattr(isolation, "_SETTINGS", {str(setting): ("1", "sysctl restrict=0")})
    assert isolation._blocking() == f"{setting} is 1: an administrator can run `sysctl restrict=0`"
    setting.write_text("0\n")
    assert isolation._blocking() == ""
