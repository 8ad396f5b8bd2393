"""A simulated agent: works in the current folder, prints one JSON object a line; all of it follows from the seed."""

from __future__ import annotations

import json
import random
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def say(event: str, /, **fields: object) -> None:
    """One event on standard output."""
    print(json.dumps({"type": event, **fields}), flush=True)


class Agent:
    """One attempt: look around, make a first edit, then finish the solution or give up."""

    def __init__(self, solution: Path, toolset: str, settings: dict[str, Any]) -> None:
        self.solution, self.toolset, self.settings = solution, toolset, settings
        self.random = random.Random(settings["seed"])
        self.calls = 0
        self.spread = self.random.lognormvariate(0, 0.35)

    def shell(self, command: str) -> None:
        """Run one command line as a tool call, in a shell as real agents do."""
        self.calls += 1
        say("tool_call", id=f"c{self.calls}", name="shell", command=command)
        done = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
        output = (done.stdout + done.stderr).decode("utf-8", "replace")
        say("tool_result", id=f"c{self.calls}", exit_status=done.returncode, output=output)

    def think(self, share: float) -> None:
        """Let simulated time pass."""
        time.sleep(self.settings["mean_seconds"] * share * self.spread)

    def edit(self, name: str, action: Callable[[], object]) -> None:
        """One edit as a tool call."""
        self.calls += 1
        say("tool_call", id=f"c{self.calls}", name="edit", arguments={"path": name})
        action()
        say("tool_result", id=f"c{self.calls}", exit_status=None, output="done")

    def solve(self, whole: bool) -> None:
        """All of the solution, or only notes beside it."""
        script = next((s for s in (f"solve-{self.toolset}.sh", "solve.sh") if (self.solution / s).is_file()), None)
        if not whole:
            self.edit("NOTES.md", lambda: Path("NOTES.md").write_text("Looked into it; not finished.\n"))
        elif script:
            self.shell(f"bash {shlex.quote(str(self.solution / script))}")
        else:
            self.edit(
                "solution",
                lambda: shutil.copytree(
                    self.solution, ".", symlinks=True, dirs_exist_ok=True, copy_function=shutil.copyfile
                ),
            )

    def result(self) -> None:
        """Invented tokens and cost around the configured means."""
        tokens = int(self.settings["mean_tokens"] * self.spread)
        usage = {
            "input": tokens // 5,
            "cache_read": tokens * 3 // 5,
            "cache_write": tokens // 10,
            "output": tokens // 10,
            "reasoning": tokens // 50,
        }
        cost = round(self.settings["mean_cost_usd"] * self.spread, 6)
        say("result", model=self.settings["model"], turns=self.calls + 1, cost_usd=cost, usage=usage)


def main(solution: Path, toolset: str, settings: dict[str, Any]) -> int:
    """Play one attempt."""
    agent = Agent(solution, toolset, settings)
    if agent.random.random() < settings["fault_probability"]:
        say("error", kind="server_error", message="simulated: the model service is overloaded", status=529)
        return 1
    passes = agent.random.random() < settings["pass_probability"]
    say("start", model=settings["model"])
    agent.shell("git status --short")
    agent.think(0.4)
    agent.solve(whole=False)
    agent.think(0.4)
    if passes:
        Path("NOTES.md").unlink()
        agent.solve(whole=True)
        agent.think(0.2)
    agent.shell("git status --short")
    agent.result()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])))
