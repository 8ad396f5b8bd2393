"""`fairtrial doctor harnesses`: what it says of programs that are there, too old, or missing, and of keys."""

from __future__ import annotations

import json

import pytest
from fairtrial.upkeep.probes import harnesses


@pytest.fixture
def configured(tmp_path, monkeypatch):
    """Write config/ in a folder of its own; no program is on PATH and no key is set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "config").mkdir()
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "claude"
    program.write_text("#!/bin/sh\necho '2.1.197 (Claude Code)'\n")
    program.chmod(0o755)

    def write(entries, models=None):
        (tmp_path / "config" / "harnesses.yaml").write_text(json.dumps(entries))
        (tmp_path / "config" / "models.yaml").write_text(json.dumps(models or {"m": {"id": None}}))
        return {finding.name: finding for finding in harnesses.probe()}

    return write


def quiet(monkeypatch):
    """No connection is tried."""
    monkeypatch.setattr(harnesses, "_HOSTS", {})


def test_missing_and_present(configured, monkeypatch):
    """A missing program is of no concern and says what it costs to install; a present one says its version."""
    quiet(monkeypatch)
    found = configured({"claude": {}, "codex": {}, "reference": {}})
    assert found["claude"].ok and "version 2.1.197, not pinned" in found["claude"].detail
    assert found["codex"].ok is None and "npm i -g @openai/codex@" in found["codex"].detail
    assert "404 MB" in found["codex"].detail
    assert "reference" not in found


def test_another_version_than_the_pinned_is_wrong(configured, monkeypatch):
    """An attempt would be the fault version_mismatch, so doctor says it before."""
    quiet(monkeypatch)
    found = configured({"claude": {"version": "2.1.332"}, "also": {"adapter": "claude", "version": "2.1.197"}})
    assert found["claude"].ok is False and "2.1.197 is installed, 2.1.332 is pinned" in found["claude"].detail
    assert found["also"].ok and "as pinned" in found["also"].detail


def test_keys_and_logins_are_named_and_never_shown(configured, monkeypatch, tmp_path):
    """Variables and files are named; no value is printed."""
    quiet(monkeypatch)
    monkeypatch.setenv("A_KEY", "sk-secret-value")
    entries = {
        "with-key": {"adapter": "claude", "auth": "key", "key_env": "A_KEY"},
        "without": {"adapter": "claude", "auth": "key", "key_env": "B_KEY"},
        "login": {"adapter": "claude", "auth": "login", "login_files": [".claude/.credentials.json"]},
    }
    found = configured(entries)
    assert "key in A_KEY" in found["with-key"].detail and "no key in B_KEY" in found["without"].detail
    assert "not logged in (no ~/.claude/.credentials.json)" in found["login"].detail
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    (tmp_path / "home" / ".claude" / ".credentials.json").write_text("{}")
    assert "; logged in" in configured(entries)["login"].detail
    assert not any("sk-secret-value" in finding.detail + finding.remedy for finding in found.values())


def test_the_way_to_a_model_is_tried(configured, monkeypatch):
    """A base_url that nothing answers at is said, and is no error: a rehearsal needs none. Our own endpoint answers."""
    quiet(monkeypatch)
    found = configured({"claude": {}}, {"m": {"id": "x", "base_url": "http://127.0.0.1:1"}})
    assert found["127.0.0.1:1"].ok is None and "not reachable" in found["127.0.0.1:1"].detail
    assert found["loopback endpoint"].ok


def test_a_broken_file_is_one_finding(configured, tmp_path, monkeypatch):
    """Doctor goes on where the configuration does not."""
    configured({"claude": {}})
    (tmp_path / "config" / "harnesses.yaml").write_text("a: [")
    found = harnesses.probe()
    assert [finding.ok for finding in found] == [False] and "harnesses.yaml" in found[0].detail
