"""One small task whose workspace an attacker filled, and the judge's word on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from fairtrial.grading.judge import Judgement, judge

WORKSPACE = {
    "calc.py": "def total(numbers):\n    return 0\n",
    "cli.py": "import sys\nimport calc\nprint(calc.total([int(a) for a in sys.argv[1:]]))\n",
    "notes/keep.txt": "protected\n",
}
ACCEPTANCE = {
    "__init__.py": "",
    "test_visible.py": (
        "import unittest\nimport calc\nclass Visible(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(calc.total([1, 2]), 3)\n"
    ),
}
VERIFIER = """
from fairtrial.verify import Verification
v = Verification()
SENTINEL = "VERIFIER_SENTINEL 90210"

@v.check("totals")
def totals():
    v.equal(v.calls("calc", "total", [([[4, 5, 6]], {}), ([[]], {}), ([[-7, 90217]], {})]), [15, 0, 90210])

@v.check("command-line")
def command_line():
    v.equal(v.ok(v.run(["python3", "cli.py", "20", "22"])).text, "42\\n")

@v.check("answer")
def answer():
    v.equal(v.workspace.joinpath("answer.txt").read_text(), "SOLUTION_SENTINEL\\n")

@v.check("kept")
def kept():
    v.equal(v.text("notes/keep.txt"), "protected\\n")

v.finish()
"""
SOLUTION = {
    "calc.py": "def total(numbers):\n    return sum(numbers)\n",
    "answer.txt": "SOLUTION_SENTINEL\n",
}
CHECKS = {"totals": "milestone", "command-line": "milestone", "answer": "milestone", "kept": "minefield"}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    """Lay text files out below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def gradespec(**other: Any) -> dict[str, Any]:
    """The parts of a grade specification that the judge reads."""
    settings = {"command": ["verify.py"], "format": "checks", "seconds": 30, "checks": CHECKS}
    return {
        "check": "python3 -B -m unittest acceptance.test_visible", "check_seconds": 20, "protected": ["notes"],
        "verifier_settings": settings, "toolset": "git", **other,
    }  # fmt: skip


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """The frozen files of the task, as grading places them."""
    folder = tmp_path / "frozen"
    write(folder / "workspace", WORKSPACE)
    write(folder / "acceptance", ACCEPTANCE)
    write(folder / "verifier", {"verify.py": VERIFIER})
    write(folder / "solution", SOLUTION)
    return folder


@pytest.fixture
def attacked(tmp_path: Path, task: Path) -> Path:
    """The final tree before the attacker's files: the untouched workspace."""
    return write(tmp_path / "tree", WORKSPACE)


@pytest.fixture
def judged(tmp_path: Path, task: Path, attacked: Path) -> Callable[..., Judgement]:
    """Judge the tree with these files laid over it. A box is required: some attacks would harm the machine without."""

    def run(files: Mapping[str, str], policy: str = "required", **other: Any) -> Judgement:
        write(attacked, files)
        return judge(gradespec(**other), task, attacked, tmp_path / "scratch", box_policy=policy)

    return run
