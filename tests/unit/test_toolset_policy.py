"""What a toolset's arm may run, and what its commands count as."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairtrial import registry
from fairtrial.grading import vc

from tests.trace_rig import Rig


def rig(folder: Path, toolset: str) -> Rig:
    """Shims with the policy of a toolset, and a program of its name that calls git itself."""
    (folder / "bin").mkdir()
    program = folder / "bin" / toolset
    program.write_text('#!/bin/sh\nexec git "$@"\n')
    program.chmod(0o755)
    refusals = registry.load("fairtrial.toolsets", toolset, "toolset").policy("warm")
    return Rig(folder, ["git", toolset], "python", [str(folder / "bin")], refusals=refusals)


@pytest.mark.parametrize("toolset", ["but", "jj"])
def test_git_may_read_and_not_write(tmp_path: Path, toolset: str) -> None:
    """A write of git's ends with 42 before anything happens; a read passes; so does what the tool calls itself."""
    shimmed = rig(tmp_path, toolset)
    try:
        assert shimmed.run(["git", "init", "-q", "one"]).returncode == 42
        assert not (shimmed.stage.box.workspace / "one").exists()
        assert shimmed.run(["git", "--version"]).returncode == 0
        assert shimmed.run([toolset, "init", "-q", "two"]).returncode == 0
        assert shimmed.run(["git", "-C", "two", "status"]).returncode == 0
        refused = shimmed.run(["git", "-C", "two", "commit", "--allow-empty", "-m", "x"])
        assert refused.returncode == 42
        assert f"change the repository with {toolset}" in refused.stderr.decode()
    finally:
        lines = shimmed.stop()
    assert [line["argv"][1] for line in lines if line["refused"]] == ["init", "-C"]


def test_plain_git_refuses_nothing() -> None:
    """The plain arm has no policy."""
    assert registry.load("fairtrial.toolsets", "git", "toolset").policy("warm") == {"refuse": []}


@pytest.mark.parametrize(
    ("toolset", "command", "kind"),
    [
        ("jj", "jj log -r ::", "read"),
        ("jj", "jj st", "read"),
        ("jj", "jj -R . diff --git", "read"),
        ("jj", "jj bookmark list", "read"),
        ("jj", "jj bookmark set main -r @-", "mutation"),
        ("jj", "jj commit -m x a.txt", "mutation"),
        ("jj", "jj squash --into x", "mutation"),
        ("jj", "jj git fetch", "mutation"),
        ("jj", "jj git remote list", "read"),
        ("jj", "jj op log", "read"),
        ("jj", "jj op restore abc", "mutation"),
        ("jj", "jj file show -r @- a", "read"),
        ("jj", "jj frobnicate", "other"),
        ("jj", "git log", "read"),
        ("jj", "git commit", "mutation"),
        ("but", "but status -f", "read"),
        ("but", "but commit main -m x", "mutation"),
        ("but", "but branch", "read"),
        ("but", "but branch new x", "mutation"),
        ("but", "but rub ab cd", "mutation"),
        ("but", "but oplog", "read"),
        ("but", "but oplog restore x", "mutation"),
        ("but", "git show", "read"),
    ],
)
def test_kinds_of_commands(toolset: str, command: str, kind: str) -> None:
    """The classes of an arm cover its tool and git."""
    argv = command.split()
    assert vc.classes_for(toolset).kind({"command": argv[0], "argv": argv}) == kind


@pytest.mark.parametrize("toolset", ["but", "git", "jj"])
def test_classes_are_words_and_do_not_overlap(toolset: str) -> None:
    """No entry is both a read and a mutation; error pieces are lower case, as they are compared."""
    module = registry.load("fairtrial.toolsets", toolset, "toolset")
    assert not module.READS & module.MUTATIONS
    assert all(piece == piece.lower() for piece in module.SELECTOR_ERRORS)
