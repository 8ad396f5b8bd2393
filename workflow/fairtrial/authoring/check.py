"""Proves a task package: the start is red, the reference green, each known-wrong solution fails where it should.

A verifier that cannot fail, or an answer that can be found from the workspace, makes every figure worthless, so a
package is proven before money is spent on it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fairtrial.authoring import leaks, shape
from fairtrial.authoring.stage import Start, build_start, lay_wrong, play_solution
from fairtrial.contracts.errors import Fault, UserError
from fairtrial.grading.judge import Judgement, judge
from fairtrial.plan import tasks

REFERENCE_TIMES = 3
BROKEN = "verifier_error"


@dataclass(slots=True)
class Proof:
    """What `check` found for one task; it holds when `problems` is empty."""

    task: str
    problems: list[str] = field(default_factory=list)
    caught: dict[str, list[str]] = field(default_factory=dict)  # check -> what failed it
    skipped: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)  # programs the task requires; without them nothing was proven
    broken: dict[str, list[str]] = field(default_factory=dict)  # a verifier's error -> what it gave no verdict on

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
    proof.problems += [*shape.entries(start.task), *shape.protected(start.task, untouched)]
    proof.problems += leaks.find(start.task, untouched)
    if lacking := shape.acceptance(start.task, untouched):
        proof.problems.append(lacking)
        return
    found = _judge(start, untouched)
    if found.verdict == BROKEN:  # on the reference too, or there is none: whatever else were said would follow from it
        proof.problems.append(f"verifier: {found.error}; nothing else can be proven before it reports")
        return
    proof.judged("untouched", found)
    if found.verdict != "failed":
        proof.problems.append(f"untouched: verdict is {_say(found)}; the start must be red")
    for toolset in start.toolsets(proof.skipped):
        _reference(proof, start, toolset)
    for folder in wrong_solutions(start.task):
        _wrong(proof, start, folder)
    for error, places in proof.broken.items():
        proof.problems.append(f"{', '.join(places)}: verdict is {BROKEN} ({error}), which proves nothing")
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
        if found.verdict == BROKEN:
            proof.broken.setdefault(found.error or "", []).append(f"reference with {toolset}")
            return
        if found.verdict != "passed":
            proof.problems.append(
                f"reference with {toolset}, time {number}: verdict is {_say(found)}; it must be green"
            )
            return


_WORDS = {"fails": (False, "must fail and passes"), "passes": (True, "must pass and fails")}
_HOW_WRONG = ': wrong/NAME/ holds the files as a bad attempt leaves them and expect.toml with fails = ["check", ...]'


def wrong_solutions(task: tasks.Task) -> Iterator[Path]:
    """The folders of the known-wrong solutions, sorted."""
    yield from sorted(p for p in (task.folder / "wrong").glob("*") if p.is_dir())


def _wrong(proof: Proof, start: Start, folder: Path) -> None:
    what = f"wrong/{folder.name}"
    try:
        expected = shape.read_expectation(folder)
    except UserError as error:
        proof.problems.append(str(error))
        expected = {"fails": [], "passes": []}
    proof.problems += [f"{what}/expect.toml: {line}" for line in shape.unknown_checks(start.task, expected)]
    tree = build_start(start)
    said = lay_wrong(start, tree, folder)
    if said:
        proof.problems.append(f"{what}: {said}")
        return
    found = _judge(start, tree)
    if found.verdict == BROKEN:
        proof.broken.setdefault(found.error or "", []).append(what)
        return
    proof.judged(what, found)
    if found.verdict == "passed":
        proof.problems.append(f"{what}: is green; {', '.join(expected['fails']) or 'a check'} must catch it")
        return
    passed = {c["name"]: c["passed"] for c in found.checks}
    for key, (want, how) in _WORDS.items():
        bad = [name for name in expected[key] if name in passed and passed[name] is not want]
        proof.problems += [f"{what}: check {name!r} {how}" for name in bad]


def _decorative(proof: Proof, task: tasks.Task) -> None:
    """A check that nothing known fails proves nothing."""
    for name in shape.checks(task):
        if name not in proof.caught and not proof.broken:
            proof.problems.append(f"check {name!r} is decorative: neither the start nor any wrong solution fails it")
    if len(list(wrong_solutions(task))) < 2:
        rest = "" if proof.problems else "; all else is proven: the start is red, the reference green"
        proof.problems.append(f"wrong/: needs at least two known-wrong solutions{_HOW_WRONG}{rest}")
