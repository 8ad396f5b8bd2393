"""A small experiment in a folder of its own, driven through the real snakemake as a user would."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
VERIFIER = """\
from fairtrial.verify import Verification

v = Verification()


@v.check("answer")
def answer() -> None:
    v.equal((v.workspace / "answer.txt").read_text(), "42\\n", "answer.txt")


v.finish()
"""
TOML = """\
id = "{id}"
title = "Write the answer"
language = "text"
tags = ["tiny"]
wall_seconds = {wall}
check = "test -s answer.txt"

[verifier.checks]
answer = "milestone"
"""
# An agent that notes each start outside of its box (isolation: none), works for a moment and answers right.
AGENT = """\
import pathlib, sys, time
with open({log!r}, "a") as log:
    log.write(sys.argv[1] + "\\n")
time.sleep({seconds})
pathlib.Path("answer.txt").write_text("42\\n")
"""


def make_task(suite: Path, name: str, wall: float = 20) -> Path:
    """A complete task package whose answer is one line in one file."""
    folder = suite / name
    for path, text in {
        "task.toml": TOML.format(id=name, wall=wall),
        "prompt.md": f"Write 42 and a newline to answer.txt. This is task {name}.\n",
        "README.md": "The smallest task.\n",
        "workspace/notes.txt": "nothing yet\n",
        "verifier/verify.py": VERIFIER,
        "solution/answer.txt": "42\n",
        "wrong/off-by-one/answer.txt": "43\n",
        "wrong/off-by-one/expect.toml": 'fails = ["answer"]\npasses = ["acceptance"]\n',
        "wrong/empty/answer.txt": "",
        "wrong/empty/expect.toml": 'fails = ["acceptance", "answer"]\n',
    }.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder


@dataclass
class Lab:
    """One folder with suites, a configuration and results."""

    folder: Path
    tasks: list[str] = field(default_factory=lambda: ["one", "two"])
    config: dict[str, Any] = field(default_factory=dict)
    harnesses: dict[str, Any] = field(default_factory=dict)
    models: dict[str, Any] = field(default_factory=lambda: {"none": {"id": None}})
    checkout: Path = CHECKOUT

    def __post_init__(self) -> None:
        for name in self.tasks:
            make_task(self.folder / "suites" / "tiny", name)
        self.config = {
            "tasks": ["tiny"], "tasks_dirs": ["suites"], "harnesses": ["reference"], "models": ["none"],
            "repetitions": 2, "harnesses_file": "harnesses.yaml", "models_file": "models.yaml", **self.config,
        }  # fmt: skip
        self.harnesses = {"reference": {}, "noop": {}, "stand-in": {}, **self.harnesses}
        self.write()

    def counted(self, name: str = "counted", seconds: float = 0.0, **more: Any) -> str:
        """Add a harness whose agent notes each of its starts in starts.log."""
        script = self.folder / f"{name}.py"
        script.write_text(AGENT.format(log=str(self.folder / "starts.log"), seconds=seconds))
        template = [sys.executable, "-I", str(script), "{model}"]
        options = {"template": template, "output": "none"}
        self.harnesses[name] = {"adapter": "command", "free": True, "network": "none", "options": options, **more}
        self.config["isolation"] = "none"
        self.write()
        return name

    def starts(self) -> int:
        """How many agents were started in all."""
        log = self.folder / "starts.log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def write(self) -> None:
        """Write the configuration files (JSON is YAML)."""
        for name in ("config", "harnesses", "models"):
            (self.folder / f"{name}.yaml").write_text(json.dumps(getattr(self, name), indent=1) + "\n")

    def environment(self) -> dict[str, str]:
        """A user's environment with the checkout's package."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("FAIRTRIAL_", "COV_", "PYTHONDONT"))}
        return {
            **kept,
            "PYTHONPATH": str(self.checkout / "workflow"),
            "PATH": f"{Path(sys.executable).parent}:{kept['PATH']}",
        }

    def command(self, *arguments: str) -> list[str]:
        """The snakemake command line."""
        start = [
            sys.executable,
            "-m",
            "snakemake",
            "-s",
            str(self.checkout / "Snakefile"),
            "--configfile",
            "config.yaml",
        ]
        return [*start, *(() if any(a.startswith("--cores") for a in arguments) else ("--cores", "2")), *arguments]

    def snakemake(self, *arguments: str, timeout: float = 240) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        return subprocess.run(
            self.command(*arguments), cwd=self.folder, env=self.environment(), capture_output=True, text=True,
            timeout=timeout, check=False,
        )  # fmt: skip

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start it in a process group of its own."""
        with (self.folder / "snakemake.log").open("ab") as log:
            return subprocess.Popen(
                self.command(*arguments), cwd=self.folder, env=self.environment(), stdout=log, stderr=log,
                process_group=0,
            )  # fmt: skip

    def fairtrial(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run the fairtrial command."""
        return subprocess.run(
            [sys.executable, "-m", "fairtrial", *arguments], cwd=self.folder, env={**self.environment(), **more},
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def planned(self, *arguments: str) -> dict[str, int]:
        """Rule -> number of jobs a dry run lists."""
        done = self.snakemake("-n", *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        table = (done.stdout + done.stderr).rpartition("Job stats:")[2]
        return {
            name: int(count) for name, count in re.findall(r"^(\w+)\s+(\d+)$", table, re.MULTILINE) if name != "total"
        }

    @property
    def results(self) -> Path:
        """The results tree."""
        return self.folder / "results"

    def seals(self) -> dict[str, tuple[int, bytes]]:
        """Every evidence.json: inode and content."""
        found = sorted(self.results.glob("attempts/*/*/*/*/*/r*/evidence.json"))
        return {str(p.relative_to(self.results)): (p.stat().st_ino, p.read_bytes()) for p in found}

    def graded(self) -> list[dict[str, Any]]:
        """Every result.json, parsed."""
        return [
            json.loads(p.read_bytes()) for p in sorted(self.results.glob("attempts/*/*/*/*/*/r*/grades/*/result.json"))
        ]

    def faults(self) -> list[dict[str, Any]]:
        """Every fault.json, parsed."""
        return [json.loads(p.read_bytes()) for p in sorted(self.results.glob("faults/**/fault.json"))]


def end_group(process: subprocess.Popen[bytes], number: int) -> None:
    """Signal a whole process group and wait for its leader."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    process.wait(60)


def wait_until(condition: Any, seconds: float = 60) -> bool:
    """Poll a condition."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


SIGNALS = {"SIGINT to the group": signal.SIGINT, "SIGKILL of the group": signal.SIGKILL}
