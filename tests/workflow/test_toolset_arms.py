"""The same task under several version-control tools, from the configuration to the tables."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from fairtrial.wire import captured

from tests.lab import Lab, make_task

START = """\
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.invalid GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.invalid
export GIT_AUTHOR_DATE=2024-03-01T00:00:00Z GIT_COMMITTER_DATE=2024-03-01T00:00:00Z
git init -q -b main --template=
git commit -q --allow-empty -m start
"""
# Writes with git whatever arm it is in, tells what it found, and answers right.
AGENT = (
    "git commit -q --allow-empty -m x; echo $?; ls -d .jj ~/.config/fairtrial/skills/*/SKILL.md; echo 42 > answer.txt"
)


@pytest.fixture
def arms(tmp_path: Path) -> Lab:
    """One task with a repository of its own and an agent that commits with git."""
    template = ["bash", "-c", AGENT]
    options = {"template": template, "output": "none"}
    lab = Lab(
        tmp_path,
        tasks=["one"],
        config={"harnesses": ["commits"], "repetitions": 1},
        harnesses={"commits": {"adapter": "command", "free": True, "network": "none", "options": options}},
    )
    folder = make_task(tmp_path / "suites" / "tiny", "one")
    toml = folder / "task.toml"
    toml.write_text('toolsets = ["git", "jj", "but"]\n' + toml.read_text())
    (folder / "workspace.sh").write_text(START)
    return lab


def said(lab: Lab, toolset: str) -> list[str]:
    """What the agent of an arm printed."""
    for path in lab.results.glob("attempts/*/*/*/*/*/r1/evidence.json"):
        if json.loads(path.read_bytes())["recipe"]["toolset"]["name"] == toolset:
            return (path.parent / captured.STDOUT).read_text().split()
    raise AssertionError(f"no attempt with {toolset}")


@pytest.mark.skipif(shutil.which("jj") is None, reason="jj is not installed")
def test_git_may_write_in_its_own_arm_only(arms: Lab) -> None:
    """Two arms of one task: refused and a violation under jj, neither under git; jj is set up and has its skills."""
    arms.config["toolsets"] = ["git", "jj"]
    arms.write()
    done = arms.snakemake("--until", "grade")
    assert done.returncode == 0, done.stderr
    seen = {r["toolset"]: r["performance"]["compliance"]["policy_refusals"] for r in arms.graded()}
    assert seen == {"git": 0, "jj": 1}
    assert {r["outcome"] for r in arms.graded()} == {"green"}
    assert all(r["versions"]["toolset"] for r in arms.graded())
    assert said(arms, "git") == ["0"]
    status, folder, skill = said(arms, "jj")
    assert (status, folder) == ("42", ".jj")
    assert skill.endswith("/.config/fairtrial/skills/jj/SKILL.md")


def test_a_tool_that_changes_the_start_gives_no_result(
    arms: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The set-up of one arm moved a branch: a fault of the kind `toolset` that names what differs."""
    program = tmp_path / "bin" / "but"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexec git commit -q --allow-empty -m mine\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    arms.config["toolsets"] = ["but"]
    arms.write()
    assert arms.snakemake("--until", "grade").returncode != 0
    assert arms.graded() == []
    assert {fault["kind"] for fault in arms.faults()} == {"toolset"}
    assert "what git sees: head, refs" in arms.faults()[0]["message"]
