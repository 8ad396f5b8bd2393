"""Configuration files as Snakemake meets them: where paths lead, what a broken one says, a paid matrix rehearsed."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest

from tests.lab import CHECKOUT, Lab

BROKEN = {
    "invalid YAML": (b"name: x\ntasks: [\n", "Config file is not valid JSON or YAML", "line 3, column 1"),
    "an empty file": (b"", "Config file must be given as JSON or YAML with keys at top level", "is empty; must be"),
    "a list": (b"- a\n", "Config file must be given as JSON or YAML with keys at top level", "holds a list; must be"),
    "not UTF-8": (b"name: \xff\n", "UnicodeDecodeError", "invalid leading UTF-8 octet: position 6"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_configfile_starts_nothing_and_the_plan_says_where(lab: Lab, case: str) -> None:
    """Snakemake meets it first: its own words, exit code 1; `fairtrial plan` names file and place, exit code 2."""
    content, snakemake_says, plan_says = BROKEN[case]
    (lab.folder / "broken.yaml").write_bytes(content)
    run = lab.snakemake("--configfile", "broken.yaml")
    assert (run.returncode, snakemake_says in run.stderr) == (1, True), run.stderr
    assert not lab.results.exists()
    plan = lab.fairtrial("plan", "--configfile", "broken.yaml")
    assert (plan.returncode, plan.stderr.startswith("fairtrial: broken.yaml: ")) == (2, True), plan.stderr
    assert plan_says in plan.stderr
    assert plan.stderr.count("\n") == 1


def test_a_key_given_twice_in_the_configfile_is_refused(lab: Lab) -> None:
    """By the Snakefile as by `fairtrial plan`: Snakemake alone takes the last one."""
    (lab.folder / "twice.yaml").write_text("repetitions: 1\nrepetitions: 5\n")
    for done in (
        lab.snakemake("-n", "--configfile", "twice.yaml"),
        lab.fairtrial("plan", "--configfile", "twice.yaml"),
    ):
        assert done.returncode == 2
        assert "twice.yaml: not valid YAML: key 'repetitions' is given twice: line 2, column 1" in done.stderr


def test_paths_in_a_file_are_of_the_working_directory(lab: Lab) -> None:
    """With --directory the file itself is found where the command is given, what it names below the directory."""
    refused = lab.snakemake("-n", "--directory", "shard-a")
    assert refused.returncode == 2
    assert f"{lab.folder}/shard-a/harnesses.yaml: no such file" in refused.stderr
    lab.config.update(
        harnesses_file="../harnesses.yaml", models_file="../models.yaml", tasks_dirs=["../suites"], repetitions=1
    )
    lab.write()
    assert lab.planned("--directory", "shard-a")["attempt"] == 2


def test_a_paid_matrix_is_rehearsed_by_the_command_of_the_page(lab: Lab) -> None:
    """docs/endpoint.md: free without a permission, under a name of its own, only the programs that it names."""
    page = (CHECKOUT / "docs" / "endpoint.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    options = {"template": ["sh", "-c", "echo 42 > answer.txt"], "output": "none"}
    agent: dict[str, Any] = {"adapter": "command", "network": "endpoint", "options": options}
    lab.harnesses = dict.fromkeys(("claude", "codex", "qwen"), agent)
    lab.models = {"gpt": {"id": "gpt-x"}, "rehearsal": {"id": "rehearsal", "rehearsal": True}}
    lab.config.update(harnesses=["claude", "codex", "qwen"], models=["gpt"], isolation="none", trace=[], repetitions=3)
    lab.write()
    (lab.folder / "config.yaml").rename(lab.folder / "paid.yaml")
    done = subprocess.run(
        ["bash", "-euc", script.replace("snakemake ", f"snakemake -s '{CHECKOUT}/Snakefile' ")],
        cwd=lab.folder, env=lab.environment(), capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert (lab.results / "rehearsal" / "report" / "index.html").is_file()
    assert not (lab.results / "default").exists()
    attempts = {path.parts[-6:-3] for path in lab.results.glob("attempts/tiny/*/*/*/*/r1/evidence.json")}
    assert {parts[1:] for parts in attempts} == {("claude", "rehearsal"), ("qwen", "rehearsal")}
    assert len(attempts) == 4
