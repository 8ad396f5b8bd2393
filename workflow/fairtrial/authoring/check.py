"""Proves a task package: the start is red, the reference green, each known-wrong solution fails where it should.

A verifier that cannot fail, or an answer that can be found from the workspace, makes every figure worthless, so a
package is proven before money is spent on it.
"""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairtrial.authoring import leaks
from fairtrial.authoring.stage import Start, build_start, lay_wrong, play_solution
from fairtrial.contracts.errors import Fault, UserError
from fairtrial.grading.judge import Judgement, judge
from fairtrial.plan import tasks

REFERENCE_TIMES = 3
ACCEPTANCE = "acceptance"


@dataclass(slots=True)
class Proof:
    """What `check` found for one task; it holds when `problems` is empty."""

    task: str
    problems: list[str] = field(default_factory=list)
    caught: dict[str, list[str]] = field(default_factory=dict)  # check -> what failed it
    skipped: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)  # programs the task requires; without them nothing was proven

    def judged(self, what: str, judgement: Judgement) -> None:
        """Note which checks `what` failed."""
        for check in judgement.checks:
            if not check["passed"]:
                self.caught.setdefault(check["name"], []).append(what)


def check_task(task: tasks.Task) -> Proof:
    """Run every proof of one package."""
    proof = Proof(task.name, absent=[name for name in task.settings["requires"] if shutil.which(name) is None])
    if proof.absent:
        return proof
    with tempfile.TemporaryDirectory(prefix="ft-", ignore_cleanup_errors=True) as name:
        start = Start(task, Path(name))
        try:
            _prove(proof, start)
        except (Fault, UserError) as error:
            proof.problems.append(str(error))
    return proof


def _prove(proof: Proof, start: Start) -> None:
    untouched = build_start(start)
    found = _judge(start, untouched)
    proof.judged("untouched", found)
    if found.verdict != "failed":
        proof.problems.append(f"untouched: verdict is {_say(found)}; the start must be red")
    proof.problems += leaks.find(start.task, untouched)
    for toolset in start.toolsets(proof.skipped):
        _reference(proof, start, toolset)
    for folder in wrong_solutions(start.task):
        _wrong(proof, start, folder)
    _decorative(proof, start.task)


def _judge(start: Start, tree: Path) -> Judgement:
    return judge(start.spec, start.task.folder, tree, start.scratch)


def _say(judgement: Judgement) -> str:
    failed = ", ".join(c["name"] for c in judgement.checks if not c["passed"])
    return judgement.verdict + (f" ({judgement.error})" if judgement.error else f" ({failed})" if failed else "")


def _reference(proof: Proof, start: Start, toolset: str) -> None:
    for number in range(1, REFERENCE_TIMES + 1):
        tree = build_start(start, toolset=toolset)
        said = play_solution(start, tree, toolset)
        if said:
            proof.problems.append(f"reference with {toolset}: {said}")
            return
        found = _judge(start, tree)
        if found.verdict != "passed":
            proof.problems.append(
                f"reference with {toolset}, time {number}: verdict is {_say(found)}; it must be green"
            )
            return


_HOW_WRONG = ': wrong/NAME/ holds the files as a bad attempt leaves them and expect.toml with fails = ["check", ...]'


def wrong_solutions(task: tasks.Task) -> Iterator[Path]:
    """The folders of the known-wrong solutions, sorted."""
    yield from sorted(p for p in (task.folder / "wrong").glob("*") if p.is_dir())


def _wrong(proof: Proof, start: Start, folder: Path) -> None:
    expected = read_expectation(folder)
    tree = build_start(start)
    said = lay_wrong(start, tree, folder)
    if said:
        proof.problems.append(f"wrong/{folder.name}: {said}")
        return
    found = _judge(start, tree)
    proof.judged(f"wrong/{folder.name}", found)
    passed = {c["name"]: c["passed"] for c in found.checks}
    if found.verdict == "passed":
        proof.problems.append(f"wrong/{folder.name}: is green; {', '.join(expected['fails'])} must catch it")
    elif found.verdict != "failed":
        proof.problems.append(f"wrong/{folder.name}: verdict is {_say(found)}, which does not count as caught")
    if found.verdict == "failed":
        names = {"fails": (False, "must fail and passes"), "passes": (True, "must pass and fails")}
        for key, (want, said) in names.items():
            bad = [name for name in expected[key] if passed.get(name) is not want]
            proof.problems += [f"wrong/{folder.name}: check {name!r} {said}" for name in bad]


def read_expectation(folder: Path) -> dict[str, list[str]]:
    """wrong/<name>/expect.toml: `fails` names the checks that must catch it, `passes` those that must not."""
    path = folder / "expect.toml"
    try:
        raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f'{path}: {error}; it must hold fails = ["check", ...]') from None
    unknown = set(raw) - {"fails", "passes"}
    if unknown or not raw.get("fails"):
        raise UserError(f"{path}: needs fails = [...] and may have passes = [...]; found {', '.join(raw) or 'nothing'}")
    return {"fails": raw["fails"], "passes": raw.get("passes", [])}


def _decorative(proof: Proof, task: tasks.Task) -> None:
    """A check that nothing known fails proves nothing."""
    named = list(task.settings["verifier"]["checks"])
    if task.settings["check"] is not None and ACCEPTANCE not in named:
        named.append(ACCEPTANCE)
    for name in named:
        if name not in proof.caught:
            proof.problems.append(f"check {name!r} is decorative: neither the start nor any wrong solution fails it")
    if len(list(wrong_solutions(task))) < 2:
        rest = "" if proof.problems else "; all else is proven: the start is red, the reference green"
        proof.problems.append(f"wrong/: needs at least two known-wrong solutions{_HOW_WRONG}{rest}")
