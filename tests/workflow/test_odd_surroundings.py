"""Where a user may stand: inside another agent's environment, in a folder with an odd name."""

from __future__ import annotations

import os
from pathlib import Path

from tests.lab import Lab

OUTER = {
    "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_SSE_PORT": "1", "CLAUDE_CONFIG_DIR": "/nowhere/c",
    "CLAUDE_CODE_SUBAGENT_MODEL": "outer", "ANTHROPIC_MODEL": "outer", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
    "CODEX_HOME": "/nowhere/outer", "CODEX_SANDBOX": "seatbelt", "CODEX_SANDBOX_NETWORK_DISABLED": "1", "OPENCODE": "1",
    "OPENCODE_CONFIG": "/nowhere/outer.json", "MSWEA_COST_TRACKING": "ignore_errors", "GIT_DIR": "/nowhere/outer.git",
    "GIT_INDEX_FILE": "/nowhere/index", "GIT_WORK_TREE": "/nowhere", "PYTHONSTARTUP": "/nowhere/x",
    "NODE_OPTIONS": "--inspect", "VIRTUAL_ENV": "/nowhere/v", "PYTEST_ADDOPTS": "--lf", "INVENTED_TOMORROW": "1",
}  # fmt: skip


def test_nothing_of_an_outer_agent_reaches_the_inner_one(lab: Lab) -> None:
    """O13 from the command line on: none of its variables, not even an unknown one, and our git is not led astray."""
    path = f"{lab.environment()['PYTHONPATH']}{os.pathsep}/nowhere/outer"
    command = "sh -c 'env > seen.txt; git status > status.txt && echo 42 > answer.txt'"
    done = lab.fairtrial(
        "try",
        "tiny/one",
        "--tasks-dir",
        "suites",
        "--agent-cmd",
        command,
        "--network",
        "none",
        PYTHONPATH=path,
        **OUTER,
    )
    assert done.returncode == 0, done.stderr
    patch = next(lab.results.glob("tries/*/attempts/*/*/*/*/*/r1/workspace.patch")).read_text()
    names = {line[1:].partition("=")[0] for line in patch.splitlines() if line.startswith("+")}
    assert "PATH" in names
    assert not names & {*OUTER, "PYTHONPATH"}
    assert "/nowhere" not in patch


def test_results_below_a_folder_with_an_odd_name(tmp_path: Path) -> None:
    """O18: blanks, a quote, a number sign and braces in an experiment's path are part of a name and nothing else."""
    folder = tmp_path / "it's a bench dir" / "run #1 {x} $(id)"
    folder.mkdir(parents=True)
    lab = Lab(folder, tasks=["one"], config={"repetitions": 1})
    done = lab.snakemake()
    assert done.returncode == 0, done.stderr
    assert [r["outcome"] for r in lab.graded()] == ["green"]
    assert (lab.results / "default" / "report" / "index.html").exists()
    assert lab.planned() == {}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["it's a bench dir"]
