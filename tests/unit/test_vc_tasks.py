"""The version-control packages: built the same everywhere, hiding nothing, each trap guarded and tripped."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.lab import CHECKOUT

SUITE = CHECKOUT / "tasks" / "version-control"
TASKS = sorted(path.parent.name for path in SUITE.glob("*/task.toml"))
NOBODY = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ["PATH"], "HOME": os.devnull}
MINEFIELDS = {"protected-refs", "no-operation", "no-stash"}


def shell(folder: Path, script: Path | str) -> str:
    """Standard output of a bash script, or of a line, in `folder`."""
    argv = ["bash", str(script)] if isinstance(script, Path) else ["bash", "-c", script]
    return subprocess.run(argv, cwd=folder, env=NOBODY, check=True, capture_output=True, text=True).stdout


def start(folder: Path, task: str) -> Path:
    """The repository an agent starts with."""
    folder.mkdir()
    shell(folder, SUITE / task / "workspace.sh")
    return folder


def verdicts(task: str, workspace: Path) -> dict[str, bool]:
    """The verifier's report on a finished tree, without a box."""
    verifier = SUITE / task / "verifier" / "verify.py"
    argv = [sys.executable, "-I", "-B", str(verifier), str(workspace)]
    done = subprocess.run(argv, env=NOBODY, check=True, capture_output=True)
    return {check["name"]: check["passed"] for check in json.loads(done.stdout)["checks"]}


def settings(task: str) -> dict:
    """task.toml."""
    return tomllib.loads((SUITE / task / "task.toml").read_text())


def test_there_are_nine() -> None:
    """The suite holds what its description says, each for every toolset."""
    assert len(TASKS) == 9
    assert all(settings(task)["toolsets"] == ["git", "jj", "but"] for task in TASKS)
    assert all(
        (SUITE / task / f"solution/solve-{tool}.sh").is_file() for task in TASKS for tool in ("git", "jj", "but")
    )


@pytest.mark.parametrize("task", TASKS)
def test_the_start_is_the_same_everywhere(tmp_path: Path, task: str) -> None:
    """Names, dates and zone are fixed: two builds have the same commits, refs and files."""
    looks = "git for-each-ref; git rev-parse HEAD; git status --porcelain; git ls-files -s"
    one, two = start(tmp_path / "one", task), start(tmp_path / "two", task)
    assert shell(one, looks) == shell(two, "export TZ=Asia/Tokyo; " + looks)


@pytest.mark.parametrize("task", TASKS)
def test_the_start_hides_nothing(tmp_path: Path, task: str) -> None:
    """No log, stash, note, unreachable object, hook or half-done operation lies in it."""
    folder = start(tmp_path / "one", task)
    assert shell(folder, "git reflog; git stash list; git notes list; git fsck --unreachable --no-progress") == ""
    git = folder / ".git"
    assert not [path for path in (git / "logs").rglob("*") if path.is_file()]
    assert {path.name for path in git.iterdir()} <= {
        "HEAD", "branches", "config", "description", "index", "info", "objects", "refs", "packed-refs",
    }  # fmt: skip


@pytest.mark.parametrize("task", TASKS)
def test_the_prompt_names_no_tool(task: str) -> None:
    """The same prompt serves every toolset."""
    prompt = (SUITE / task / "prompt.md").read_text()
    assert not re.search(r"(?<!\.)\bgit\b|\bjj\b|jujutsu|gitbutler|stash|rebase|cherry-pick|bookmark", prompt, re.I)


@pytest.mark.parametrize("task", TASKS)
def test_every_trap_is_tripped(task: str) -> None:
    """Every check has a sabotage of its own; the minefields every task has are declared as such."""
    checks = settings(task)["verifier"]["checks"]
    expected = [tomllib.loads(path.read_text()) for path in (SUITE / task / "wrong").glob("*/expect.toml")]
    assert set(checks) <= {name for wrong in expected for name in wrong["fails"]}
    assert {name for name in MINEFIELDS if checks.get(name) == "minefield"} == MINEFIELDS


def test_the_reader_is_one_file() -> None:
    """Packages stand alone, so each carries the reader; it is the same in all."""
    assert len({(SUITE / task / "verifier" / "repo.py").read_bytes() for task in TASKS}) == 1


@pytest.mark.parametrize("task", TASKS)
def test_checks_compare_with_the_start_that_is_built(task: str) -> None:
    """start.json is what workspace.sh builds today."""
    command = [sys.executable, "-B", str(CHECKOUT / ".ci" / "vc_start.py"), str(SUITE / task)]
    done = subprocess.run(command, capture_output=True, check=True)
    assert json.loads(done.stdout) == json.loads((SUITE / task / "verifier" / "start.json").read_bytes())


@pytest.fixture
def solved(tmp_path: Path) -> Path:
    """selective-commit, done with git."""
    folder = start(tmp_path / "work", "selective-commit")
    shell(folder, SUITE / "selective-commit" / "solution" / "solve-git.sh")
    return folder


def test_nothing_of_the_agents_repository_runs(solved: Path, tmp_path: Path) -> None:
    """Settings and hooks that would start a program are left out of the copy that is looked at."""
    proof = tmp_path / "ran"
    evil = solved / ".git" / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {proof}\ncat\n")
    evil.chmod(0o755)
    (solved / ".git" / "hooks").mkdir(exist_ok=True)
    shutil.copy(evil, solved / ".git" / "hooks" / "post-index-change")
    for key in ("core.fsmonitor", "filter.x.clean", "diff.external", "core.pager", "core.alternateRefsCommand"):
        shell(solved, f"git -c core.fsmonitor= config {key} {evil}")
    shell(solved, "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes")
    proof.unlink(missing_ok=True)
    assert all(verdicts("selective-commit", solved).values())
    assert not proof.exists()


@pytest.mark.parametrize(
    "harm",
    [
        "rm -rf .git",
        "rm -rf .git && ln -s /nonexistent .git",
        "rm -rf .git && echo gitdir: /elsewhere > .git",
        "find .git/objects -type f -delete",
        "echo nonsense > .git/HEAD",
        "echo broken > .git/index",
        "git branch -m topic other",
        "git checkout -q --orphan new && git commit -q -m alone && git branch -D topic",
    ],
)
def test_a_ruined_repository_fails_and_never_breaks_the_verifier(solved: Path, harm: str) -> None:
    """Whatever an agent leaves, the verifier reports every check."""
    shell(solved, f"export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a\n{harm}")
    found = verdicts("selective-commit", solved)
    assert set(found) == set(settings("selective-commit")["verifier"]["checks"])
    assert not all(found.values())


def test_hashes_do_not_matter(solved: Path) -> None:
    """The same commit by another committer at another time is as good."""
    amend = "GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x GIT_COMMITTER_DATE=2030-01-01T00:00:00Z git commit -q --amend"
    before = shell(solved, "git rev-parse HEAD")
    shell(solved, f"{amend} --no-edit")
    assert shell(solved, "git rev-parse HEAD") != before
    assert all(verdicts("selective-commit", solved).values())
