"""docs/running.md is what happens: its commands are run in order, with their exit codes and words."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.lab import CHECKOUT, Lab

BLOCK = re.compile(r"^```sh exit=(\d) says=(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGE = CHECKOUT / "docs" / "running.md"
SAID = {
    "type": "result", "subtype": "success", "is_error": False, "result": "ok", "num_turns": 1, "total_cost_usd": 0.02,
    "usage": {"input_tokens": 9, "output_tokens": 3},
}  # fmt: skip


def test_the_commands_of_the_page_do_what_it_says(tmp_path: Path) -> None:
    """Every block in one folder, in order; each ends with the code and says the words that it promises."""
    lab = Lab(tmp_path, tasks=["one", "two", "three"])
    agent = f"echo 42 > answer.txt; echo '{json.dumps(SAID)}'"
    options = {"template": ["sh", "-c", agent], "output": "claude-json"}
    lab.harnesses["paid"] = {"adapter": "command", "network": "none", "options": options}
    lab.config.update(harnesses=["paid"], repetitions=1, isolation="none", trace=[])
    lab.write()
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) == len(re.findall(r"^```sh", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    for code, says, script in blocks:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script.replace("snakemake ", f"snakemake -s '{CHECKOUT}/Snakefile' ")],
            cwd=tmp_path, env=lab.environment() | {"PATH": path()}, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip
        text = done.stdout + done.stderr
        assert (done.returncode, says in text) == (int(code), True), f"{script}\n{text[-3000:]}"


def path() -> str:
    """The programs of this environment first."""
    return f"{Path(sys.executable).parent}:{os.environ['PATH']}"
