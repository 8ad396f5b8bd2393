"""`make rehearse`: install real agent programs into .rehearse/ and look whether their rehearsal went green.

install: pinned versions, as the adapters' PACKAGE names them, from npm and PyPI. look: every attempt of the experiment
`rehearse` must be green, and its agent must have changed a file with one of its own tools.
"""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

PREFIX = Path(".rehearse")
PROGRAMS = {"claude": "claude", "codex": "codex", "opencode": "opencode", "mini_swe_agent": "mini"}
SHELL_WRITES = re.compile(r">\s*\S|\bapply_patch\b|\btee\b|\bsed -i")


def packages() -> tuple[list[str], list[str]]:
    """Pinned names for npm and for pip."""
    npm, pip = [], []
    for adapter in PROGRAMS:
        words = importlib.import_module(f"fairtrial.harnesses.{adapter}.launch").PACKAGE.split()
        name = next(word for word in words if re.search(r"[@=]\d", word))
        (npm if words[0] == "npm" else pip).append(name)
    return npm, pip


def install() -> int:
    """Everything below .rehearse/; the programs as links in .rehearse/bin. Nothing is done when it is there."""
    npm, pip = packages()
    wanted = "\n".join(npm + pip) + "\n"
    stamp = PREFIX / "installed"
    if stamp.exists() and stamp.read_text() == wanted:
        return 0
    node, venv, links = (PREFIX / name for name in ("node", "mini", "bin"))
    for folder in (node, links):
        folder.mkdir(parents=True, exist_ok=True)
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(["npm", "install", "--prefix", str(node), *quiet, *npm], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    subprocess.run(
        [str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *pip], check=True
    )
    for program in PROGRAMS.values():
        target = venv / "bin" / program if program == "mini" else node / "node_modules" / ".bin" / program
        link = links / program
        link.unlink(missing_ok=True)
        link.symlink_to(target.absolute())
    stamp.write_text(wanted)
    return 0


def mutates(call: dict) -> bool:
    """Did this tool call change a file, and say that it went well?"""
    if call["is_error"] or not call["complete"]:
        return False
    return call["kind"] == "edit" or (call["kind"] == "shell" and bool(SHELL_WRITES.search(call["command"] or "")))


def look() -> int:
    """1 when an attempt is not green or no tool of its agent changed a file."""
    cells = json.loads(Path("results/rehearse/matrix.json").read_text())["cells"]
    wrong = 0
    for cell in cells:
        place = "/".join(cell[key] for key in ("suite", "task", "harness", "model", "recipe"))
        grade = Path("results/attempts", place, "r1", "grades", cell["grade"])
        result = json.loads((grade / "result.json").read_text())
        edits = sum(map(mutates, json.loads((grade / "agent-events.json").read_text())["tool_calls"]))
        good = result["outcome"] == "green" and edits > 0 and result["simulated"]
        wrong += not good
        where = result["isolation"]["backend"]
        print(f"{result['outcome']!s:<12} {edits} edits  {where:<6} {place}{'' if good else '   <-- WRONG'}")
    print(f"{len(cells) - wrong} of {len(cells)} rehearsals are green")
    return 1 if wrong or not cells else 0


if __name__ == "__main__":
    sys.exit({"install": install, "look": look}[sys.argv[1]]())
