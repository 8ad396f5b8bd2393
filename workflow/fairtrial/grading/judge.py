"""The judge: what a finished workspace is worth, decided outside the product and from files it could not touch.

1. Hash the task's files. 2. Copy the tree, restore acceptance and protected files, close its links. 3. Run the visible
green command in a box. 4. Run the hidden verifier, product code in boxed children. 5. Ask for the full set of declared
checks. 6. Before a verifier_error stands, try the verifier on the reference. 7. Hash the task's files again.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairtrial.contracts.protocols import Bind
from fairtrial.grading.judge_box import ACCEPTANCE, HOLDER, no_network, prefix
from fairtrial.grading.judge_reference import build_reference, build_start
from fairtrial.grading.judge_report import Run, Said, no_test_ran, plain_text
from fairtrial.grading.judge_tree import digest, fresh, remove
from fairtrial.grading.judge_verifier import Bench, run_verifier
from fairtrial.verify.blackbox import BrokenBox, plain_environment, run_child
from fairtrial.verify.files import copy_tree

KEPT = 100_000  # characters of output kept in a Judgement


@dataclass(slots=True)
class Judgement:
    """The verdict on one tree.

    `checks`: [{name, kind: milestone|minefield, passed, detail}]; `error`: why there is no verdict; `seconds`: the
    verifier's wall time; `suspect`: the verifier works on the reference and kept failing here, so it counts as failed;
    `changed`: restored paths that the tree had differently; `degraded`: what grading could not have, in words.
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


def judge(gradespec: dict[str, Any], task: Path, tree: Path, scratch: Path, *, box_policy: str = "auto") -> Judgement:
    """Judge the exported final `tree` by the task whose frozen files were placed at `task`.

    Args: gradespec (schemas/gradespec.schema.json); task with workspace/ (or workspace.sh), acceptance/, verifier/,
    solution/; scratch, a folder for temporary files; box_policy auto, required or none. Raises Fault('sandbox') when
    a required box cannot be had. Neither `task` nor `tree` is written to.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    room = Path(tempfile.mkdtemp(prefix="judge-", dir=scratch))
    try:
        return _Court(gradespec, task, room, box_policy).judge(tree)
    finally:
        remove(room)


def is_suspect(gradespec: dict[str, Any], task: Path, scratch: Path, *, box_policy: str = "auto") -> bool:
    """True when the verifier works on the task's reference: then its failing elsewhere is the product's doing."""
    room = Path(tempfile.mkdtemp(prefix="judge-", dir=scratch))
    try:
        return _Court(gradespec, task, room, box_policy).works_on_reference()
    finally:
        remove(room)


class _Court:
    """One judgement's working state: numbered fresh folders below `room`."""

    def __init__(self, gradespec: dict[str, Any], task: Path, room: Path, policy: str) -> None:
        self.spec, self.task, self.room, self.policy = gradespec, task, room, policy
        self.settings: dict[str, Any] = gradespec["verifier_settings"]
        self.used = 0

    def place(self) -> Path:
        self.used += 1
        return self.room / f"d{self.used}"

    def judge(self, tree: Path) -> Judgement:
        before = digest(self.task)
        final = self.place()
        result = Judgement("failed", degraded=self.degraded())
        result.changed = self.prepare(tree, final)
        accepted = self.acceptance(final, result)
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

    def degraded(self) -> list[str]:
        found = [] if prefix(self.policy) else ["product code ran without a box"]
        return found if no_network() else [*found, "the verifier could reach the network"]

    def prepare(self, tree: Path, into: Path) -> list[str]:
        protected = list(self.spec["protected"])
        start = build_start(self.task, self.place(), self.policy) if protected else None
        return fresh(tree, into, start, self.task / "acceptance", protected)

    def acceptance(self, final: Path, result: Judgement) -> list[dict[str, Any]]:
        """The check `acceptance`: the visible green command, in a box, on a copy of its own."""
        if not self.spec["check"]:
            return []
        work = self.place()
        copy_tree(final, work)
        passed, detail, output = self.green(work)
        result.acceptance_output = output[-KEPT:]
        return [{"name": "acceptance", "kind": "milestone", "passed": passed, "detail": detail}]

    def green(self, work: Path) -> tuple[bool, str, str]:
        shown = self.task / "acceptance"
        boxed = prefix(self.policy, [Bind(shown, ACCEPTANCE)] if shown.is_dir() else [])
        argv = ["sh", "-c", self.spec["check"]]
        full = [part.replace(HOLDER, str(work)) for part in boxed] + argv
        env = {} if boxed else plain_environment(self.room)
        seconds = float(self.spec["check_seconds"])
        try:
            ran = run_child(full, tuple(argv), work, stdin=b"", seconds=seconds, env=env)
        except BrokenBox as e:
            from fairtrial.contracts.errors import Fault

            raise Fault("sandbox", f"grading: {e}") from None
        output = plain_text(ran.stdout + ran.stderr)
        if ran.timed_out:
            return False, f"did not end within {seconds:.0f} s", output
        if ran.status != 0:
            return False, f"status {ran.status}: {output.strip()[-1500:]}", output
        return (False, "status 0, but no test ran", output) if no_test_ran(output) else (True, "", output)

    def ask(self, final: Path) -> tuple[Said, Run]:
        return run_verifier(self.settings, Bench(self.task, final, self.place(), self.policy))

    def works_on_reference(self) -> bool:
        reference = build_reference(self.task, self.place(), self.spec["toolset"], self.policy)
        if reference is None:
            return False
        final = self.place()
        self.prepare(reference, final)
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
