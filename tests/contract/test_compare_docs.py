"""docs/compare.md is what happens: its files are valid; its commands, in order, have their exit codes and words."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

from tests.lab import CHECKOUT, Lab

TEXT = (CHECKOUT / "docs" / "compare.md").read_text(encoding="utf-8")
FILES = re.compile(r"^```yaml (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```sh exit=(\d) says=(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_files_of_the_page_are_a_matrix(tmp_path: Path) -> None:
    """As they stand, with the shipped tasks and models: two arms of ten tasks and five repetitions, none skipped."""
    for name, text in FILES.findall(TEXT):
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "fairtrial", "plan", "--configfile", "skill.yaml"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(CHECKOUT / "workflow")}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.startswith("skill: 100 attempts, 100 missing"), (
        done.stdout + done.stderr
    )
    assert done.stdout.count("50 of 50 missing  (costs money)") == 2 and "skipped" not in done.stdout


def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    """Every block in one folder, in order, with scripted agents under the names of the page's."""
    lab = Lab(tmp_path)
    for name, answer in {"claude": 41, "claude-skill": 42}.items():
        options = {"template": ["sh", "-c", f"echo {answer} > answer.txt"], "output": "none"}
        lab.harnesses[name] = {"adapter": "command", "free": True, "network": "none", "options": options}
    lab.models = {name: {"id": None} for name in ("none", "rehearsal")}
    lab.write()
    changed = {"claude": {**lab.harnesses["claude"], "options": lab.harnesses["claude-skill"]["options"]}}
    (tmp_path / "changed.yaml").write_text(yaml.safe_dump(changed))
    small = {**yaml.safe_load(dict(FILES.findall(TEXT))["skill.yaml"]), **lab.config}
    small |= {"harnesses": ["claude", "claude-skill"], "repetitions": 1, "isolation": "none", "trace": []}
    (tmp_path / "skill.yaml").write_text(yaml.safe_dump(small))
    blocks = BLOCK.findall(TEXT)
    assert len(blocks) == len(re.findall(r"^```sh", TEXT, re.MULTILINE))
    for code, says, script in blocks:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script.replace("snakemake ", f"snakemake -s '{CHECKOUT}/Snakefile' ")],
            cwd=tmp_path, env=lab.environment(), capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        text = done.stdout + done.stderr
        assert (done.returncode, says in text) == (int(code), True), f"{script}\n{text[-3000:]}"
