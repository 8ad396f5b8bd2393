"""The judge: what a finished workspace is worth, decided outside the product and from files it could not touch.

1. Hash the task's files. 2. Copy the tree, restore acceptance and protected files, close its links. 3. Run the visible
green command in a box. 4. Run the hidden verifier, product code in boxed children. 5. Ask for the full set of declared
checks. 6. Before a verifier_error stands, try the verifier on the reference. 7. Hash the task's files again.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from fairtrial.contracts.lean import field, lean
from fairtrial.contracts.protocols import Bind
from fairtrial.grading.judge_box import ACCEPTANCE, Boxes, Words
from fairtrial.grading.judge_reference import build_reference, build_start
from fairtrial.grading.judge_report import Run, Said, no_test_ran, plain_text
from fairtrial.grading.judge_tree import digest, holds_files, move_tree, remove, restore
from fairtrial.grading.judge_verifier import run_verifier
from fairtrial.instruments.sandbox.backends import Policy
from fairtrial.verify.files import copy_tree

KEPT = 100_000  # characters of output kept in a Judgement


@lean
class Judgement:
    """The verdict on one tree.

    `checks`: [{name, kind: milestone|minefield, passed, detail}]; `error`: why there is no verdict; `seconds`: the
    verifier's wall time; `suspect`: the verifier works on the reference and kept failing here, so it counts as failed;
    `changed`: restored paths that the tree had differently; `degraded`: what grading could not have, in words;
    `raw_verdict`: where a published correction applied, what the verifier itself came to.
    """

    verdict: str
    checks: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None
    seconds: float = 0.0
    suspect: bool = False
    acceptance_output: str = ""
    verifier_output: str = ""
    changed: list[str] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    raw_verdict: str | None = None


def judge(
    gradespec: dict[str, Any],
    task: Path,
    tree: Path,
    scratch: Path,
    *,
    box_policy: Policy = "auto",
    verdict_only: bool = False,
    spent: bool = False,
    words: Words | None = None,
) -> Judgement:
    """Judge the exported final `tree` by the task whose frozen files were placed at `task`.

    Args: gradespec (schemas/gradespec.schema.json); task with workspace/ (or workspace.sh), acceptance/, verifier/,
    solution/; scratch, a folder for temporary files; box_policy auto, required or none; verdict_only: a red green
    command is verdict enough, so the verifier is not asked (for replay); spent: `tree` is needed no more and may be
    moved away; words: see Boxes. Raises Fault('sandbox') when a required box cannot be had. `task` is not written to,
    nor is `tree` unless it is spent.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    room = Path(tempfile.mkdtemp(prefix="judge-", dir=scratch))
    try:
        return _Court(gradespec, task, room, box_policy, words).judge(tree, verdict_only, spent)
    finally:
        remove(room)


class _Court:
    """One judgement's working state."""

    def __init__(
        self, gradespec: dict[str, Any], task: Path, room: Path, policy: Policy, words: Words | None = None
    ) -> None:
        self.spec, self.task = gradespec, task
        self.settings: dict[str, Any] = gradespec["verifier_settings"]
        self.boxes = Boxes(policy, room, gradespec.get("requires") or (), words)

    def judge(self, tree: Path, verdict_only: bool, spent: bool) -> Judgement:
        before = digest(self.task)
        final = self.boxes.place()
        result = Judgement("failed", degraded=self.boxes.degraded())
        result.changed = self.prepare(tree, final, spent)
        accepted = self.acceptance(final, result)
        if verdict_only and any(not check["passed"] for check in accepted):
            result.checks = accepted
            return result
        said, run = self.ask(final)
        if said.error and self.works_on_reference():
            said, run = self.ask(final)  # one more try: a busy machine is not a product's fault
            result.suspect = said.error is not None
        result.seconds = run.seconds
        result.verifier_output = plain_text(run.log)[-KEPT:]
        if digest(self.task) != before:
            said, result.suspect = Said(error="the task's or the verifier's files changed while grading"), False
        self.conclude(result, accepted, said)
        return result

    def prepare(self, tree: Path, into: Path, spent: bool) -> list[str]:
        protected = list(self.spec["protected"])
        start = build_start(self.task, self.boxes.place(), self.boxes) if protected else None
        (move_tree if spent else copy_tree)(tree, into)
        return restore(into, start, self.task / "acceptance", protected)

    def acceptance(self, final: Path, result: Judgement) -> list[dict[str, Any]]:
        """The check `acceptance`: the visible green command, in a box, on a copy of its own."""
        if not self.spec["check"]:
            return []
        work = self.boxes.place()
        copy_tree(final, work)
        passed, detail, output = self.green(work)
        result.acceptance_output = output[-KEPT:]
        return [{"name": "acceptance", "kind": "milestone", "passed": passed, "detail": detail}]

    def green(self, work: Path) -> tuple[bool, str, str]:
        shown, seconds = self.task / "acceptance", float(self.spec["check_seconds"])
        binds = [Bind(shown, ACCEPTANCE)] if holds_files(shown) else []
        ran = self.boxes.run(["sh", "-c", self.spec["check"]], work, seconds, binds)
        output = plain_text(ran.stdout + ran.stderr)
        if ran.timed_out:
            return False, f"did not end within {seconds:.0f} s", output
        if ran.status != 0:
            return False, f"status {ran.status}: {output.strip()[-1500:]}", output
        return (False, "status 0, but no test ran", output) if no_test_ran(output) else (True, "", output)

    def ask(self, final: Path) -> tuple[Said, Run]:
        return run_verifier(self.settings, self.task, final, self.boxes)

    def works_on_reference(self) -> bool:
        reference = build_reference(self.task, self.boxes.place(), self.spec["toolset"], self.boxes)
        if reference is None:
            return False
        final = self.boxes.place()
        self.prepare(reference, final, spent=True)
        said, _ = self.ask(final)
        return said.error is None and all(passed for passed, _ in said.checks.values())

    def conclude(self, result: Judgement, accepted: list[dict[str, Any]], said: Said) -> None:
        """Verdict and the list of checks; a suspect's unreported checks are failed, by name."""
        result.error = said.error
        if said.error and not result.suspect:
            result.verdict, result.checks = "verifier_error", accepted
            return
        why = f"the verifier works on the reference, not on this workspace: {said.error}"
        rows = [
            {"name": name, "kind": kind, "passed": said.checks.get(name, (False, ""))[0],
             "detail": said.checks[name][1] if name in said.checks else why}
            for name, kind in self.settings["checks"].items()
        ]  # fmt: skip
        result.checks = accepted + rows
        passed = bool(result.checks) and all(row["passed"] for row in result.checks) and not result.suspect
        result.verdict = "passed" if passed else "failed"
