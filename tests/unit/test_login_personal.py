"""What of a user's HOME reaches an attempt: the named credentials, and own configuration only where asked for."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from fairtrial.capture.secrets import copy_login, copy_personal, in_force, secrets_for
from fairtrial.capture.settings import Settings
from fairtrial.contracts.errors import Fault

CLAUDE = importlib.import_module("fairtrial.harnesses.claude.launch")
CREDENTIALS, MEMORY = ".claude/.credentials.json", ".claude/CLAUDE.md"


def recipe(**harness: Any) -> dict[str, Any]:
    return {"harness": {"name": "claude", "auth": "login", "isolate": True, **harness}}


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A user's HOME with a login, memories, a hook and other things; and an attempt's."""
    mine, inner = tmp_path / "mine", tmp_path / "inner"
    inner.mkdir()
    for name in (CREDENTIALS, MEMORY, ".claude/hooks/stop.sh", ".claude/history.jsonl", ".ssh/id"):
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_text(name)
    monkeypatch.setenv("HOME", str(mine))
    return mine, inner


def found(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}


def test_a_login_brings_the_programs_own_credentials_and_nothing_else(homes: tuple[Path, Path]) -> None:
    """Without `login_files` they are those the adapter knows; with it exactly those; 0600; a missing one is said."""
    mine, inner = homes
    copy_personal(recipe(), CLAUDE, inner)
    copy_login(recipe(), Settings(), CLAUDE, inner)
    assert found(inner) == {CREDENTIALS}
    assert (inner / CREDENTIALS).stat().st_mode & 0o777 == 0o600
    copy_login(recipe(), Settings(access={"claude": {"login_files": [".ssh/id"]}}), CLAUDE, inner)
    assert found(inner) == {CREDENTIALS, ".ssh/id"}
    (mine / CREDENTIALS).unlink()
    with pytest.raises(Fault, match=r"claude: ~/\.claude/\.credentials\.json does not exist"):
        copy_login(recipe(), Settings(), CLAUDE, inner)


def test_a_key_comes_by_name_from_the_environment_or_a_private_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment first, then a file of mode 0600; one that others can read, or none, is a fault."""
    file = tmp_path / "key"
    file.write_text("sk-file\n")
    file.chmod(0o600)
    keyed = {**recipe(auth="key"), "model": {"rehearsal": False}}
    settings = Settings(access={"claude": {"key_env": "FT_KEY", "key_file": str(file)}})
    monkeypatch.setenv("FT_KEY", "sk-named")
    assert secrets_for(keyed, settings) == {"FT_KEY": "sk-named"}
    monkeypatch.delenv("FT_KEY")
    assert secrets_for(keyed, settings) == {"FT_KEY": "sk-file"}
    file.chmod(0o640)
    with pytest.raises(Fault, match="mode 0640; others can read it: chmod 600 it") as said:
        secrets_for(keyed, settings)
    assert "sk-file" not in str(said.value)
    with pytest.raises(Fault, match="FT_KEY is not set; export it, or name a key_file"):
        secrets_for(keyed, Settings(access={"claude": {"key_env": "FT_KEY"}}))
    assert secrets_for({**keyed, "model": {"rehearsal": True}}, settings) == {}


def test_isolate_false_lets_own_configuration_in_and_says_so(homes: tuple[Path, Path]) -> None:
    """The files the adapter names, no history and no login; evidence and with it every report call it degraded."""
    _, inner = homes
    open_ = recipe(auth="key", isolate=False)
    copy_personal(open_, CLAUDE, inner)
    assert found(inner) == {MEMORY, ".claude/hooks/stop.sh"}
    assert in_force({"backend": "bwrap", "degraded": []}, open_)["degraded"] == [
        "isolate: false, claude used its user's own configuration"
    ]
    assert in_force({"degraded": ["x"]}, recipe()) == {"degraded": ["x"]}


@pytest.mark.parametrize("name", ["aider", "claude", "codex", "gemini", "mini_swe_agent", "opencode", "pi", "qwen"])
def test_own_configuration_is_never_a_credential(name: str) -> None:
    """What `isolate: false` copies and what a login copies are different files of every program."""
    launch = importlib.import_module(f"fairtrial.harnesses.{name}.launch")
    for personal in getattr(launch, "PERSONAL", ()):
        assert not any(Path(file).is_relative_to(personal) for file in launch.LOGIN_FILES)
