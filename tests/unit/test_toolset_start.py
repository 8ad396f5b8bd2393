"""Toolsets before the clock: set up, proven to show git the same repository, otherwise no result."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from fairtrial import registry
from fairtrial.capture.prepare import SKILLS, place_skills
from fairtrial.contracts.errors import Fault
from fairtrial.paths import Results
from fairtrial.plan.files import freeze, manifest
from fairtrial.toolsets import _start

needs_jj = pytest.mark.skipif(shutil.which("jj") is None, reason="jj is not installed")
NOBODY = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ["PATH"], "HOME": os.devnull}
WHO = {f"GIT_{who}_{what}": "a@example.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
GOOD_BUT = """git checkout -q -b gitbutler/workspace
git commit -q --allow-empty -m 'GitButler Workspace Commit'
git update-ref refs/gitbutler/target main"""


def git(folder: Path, *arguments: str) -> str:
    """Run git in `folder` as nobody in particular."""
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env={**NOBODY, **WHO}, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Two branches, a remote, a changed, a staged and a new file."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "init", "-q", "--bare", "origin.git")
    (folder / ".git" / "info" / "exclude").write_text("/origin.git/\n")
    git(folder, "remote", "add", "origin", "./origin.git")
    for name in ("a", "b"):
        (folder / name).write_text(f"{name}\n")
    git(folder, "add", "a", "b")
    git(folder, "commit", "-q", "-m", "first")
    git(folder, "push", "-q", "-u", "origin", "main")
    git(folder, "branch", "release")
    (folder / "a").write_text("changed\n")
    (folder / "new").write_text("new\n")
    return folder


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, body: str) -> None:
    """A program `name` that comes first on PATH."""
    (folder / "bin").mkdir(exist_ok=True)
    script = folder / "bin" / name
    script.write_text(f"#!/bin/sh\nset -e\n{body}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}")


@needs_jj
def test_jj_leaves_what_git_sees(workspace: Path) -> None:
    """After jj's set-up, HEAD, refs, index and files are what they were, and jj knows the branch's remote."""
    before = _start.visible(workspace)
    _start.set_up("jj", workspace)
    assert (workspace / ".jj").is_dir()
    assert _start.visible(workspace, ("refs/jj/",)) == before
    listed = subprocess.run(["jj", "bookmark", "list", "--tracked"], cwd=workspace, capture_output=True, check=True)
    assert b"main" in listed.stdout
    assert b"release" not in listed.stdout


@needs_jj
def test_jj_is_set_up_the_same_every_time(workspace: Path, tmp_path: Path) -> None:
    """Two attempts of an arm start with the same operations, so that nothing differs but the agent."""
    other = tmp_path / "other"
    shutil.copytree(workspace, other, symlinks=True)
    seen = []
    for folder in (workspace, other):
        _start.set_up("jj", folder)
        commits = git(folder, "for-each-ref", "--format=%(refname)", "refs/jj/").splitlines()
        seen.append(sorted(commits))
    assert seen[0] == seen[1]


@needs_jj
def test_jj_needs_a_repository(tmp_path: Path) -> None:
    """A start without a repository is a fault that says what to do."""
    with pytest.raises(Fault, match=r"workspace\.sh") as found:
        _start.set_up("jj", tmp_path)
    assert found.value.kind == "toolset"


def test_but_stands_on_its_own_branch(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool's own refs and the commit it stands on are not differences."""
    stand_in(tmp_path, monkeypatch, "but", f'[ "$1" = setup ]\n{GOOD_BUT}')
    _start.set_up("but", workspace)
    assert git(workspace, "symbolic-ref", "HEAD").strip() == "refs/heads/gitbutler/workspace"


@pytest.mark.parametrize(
    ("harm", "part"),
    [
        ("git commit -q --allow-empty -m more", "head, refs"),
        ("git branch extra", "refs"),
        ("git add a", "index"),
        ("rm new", "worktree"),
        ("chmod +x new", "worktree"),
        ("git checkout -q -- a", "worktree"),
    ],
)
def test_a_set_up_that_changes_the_start_is_a_fault(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str, part: str
) -> None:
    """Whatever git sees otherwise than in the plain arm is named, and there is no result."""
    stand_in(tmp_path, monkeypatch, "but", harm)
    with pytest.raises(Fault) as found:
        _start.set_up("but", workspace)
    assert found.value.kind == "toolset"
    assert found.value.message == f"but: setting it up changed what git sees: {part}"


def test_a_set_up_that_fails_is_a_fault(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command, its status and what it said stand in the message."""
    stand_in(tmp_path, monkeypatch, "but", "echo no target branch >&2\nexit 3")
    with pytest.raises(Fault, match=r"`but setup` ended with status 3: no target branch"):
        _start.set_up("but", workspace)


def test_a_cold_arm_is_not_set_up(workspace: Path, tmp_path: Path) -> None:
    """Adoption cold leaves the set-up to the agent, who still has a name to commit under."""
    _start.set_up("jj", workspace, tmp_path / "home", adoption="cold")
    assert not (workspace / ".jj").exists()
    assert b"agent@example.invalid" in (tmp_path / "home" / ".config/jj/config.toml").read_bytes()


def test_an_announced_file_is_no_difference(workspace: Path) -> None:
    """An intent to add, as jj leaves it for new files, is not in the tree a commit would have."""
    before = _start.visible(workspace)
    git(workspace, "add", "-N", "new")
    assert _start.visible(workspace) == before


@pytest.mark.parametrize("said", ["jj 0.46.0", "but version 0.14.2 (abc)"])
def test_versions_are_probed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """The first number with a dot is the version."""
    stand_in(tmp_path, monkeypatch, "but", f"echo '{said}'")
    toolset = registry.load("fairtrial.toolsets", "but", "toolset")
    assert toolset.probe_version() in ("0.46.0", "0.14.2")


def test_a_missing_tool_has_no_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No version, no exception."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert registry.load("fairtrial.toolsets", "but", "toolset").probe_version() is None


@pytest.mark.parametrize("name", ["but", "jj"])
def test_skills_are_placed_in_warm_arms(tmp_path: Path, name: str) -> None:
    """Frozen by hash, laid where the agent program looks; a cold arm has none."""
    skills = Path(str(registry.load("fairtrial.toolsets", name, "toolset").__file__)).parent / "skills"
    results = Results(tmp_path / "results")
    entries = manifest(skills)
    assert [entry["path"] for entry in entries if entry["mode"] != "dir"] == [f"{name}/SKILL.md"]
    freeze(results, skills, entries)
    for adoption, adapter, where in (
        ("warm", SimpleNamespace(), SKILLS),
        ("warm", SimpleNamespace(SKILLS=".claude/skills"), ".claude/skills"),
        ("cold", SimpleNamespace(), None),
    ):
        home = tmp_path / f"{adoption}-{where}".replace("/", "-")
        home.mkdir()
        place_skills(results, {"adoption": adoption, "toolset": {"name": name, "skills": entries}}, adapter, home)
        placed = [str(path.relative_to(home)) for path in home.rglob("SKILL.md")]
        assert placed == ([f"{where}/{name}/SKILL.md"] if where else [])
