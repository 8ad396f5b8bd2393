"""The grade stage: sealed evidence in, a validated result.json out. Free, repeatable, and final once written."""

from __future__ import annotations

import contextlib
import os
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from fairtrial import registry
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import field, lean
from fairtrial.contracts.protocols import DAMAGED, FaultFound, Streams
from fairtrial.contracts.records import (
    altered,
    confirm,
    digest,
    dump,
    file_digest,
    load,
    mismatches,
    pruned_of,
    write_bytes,
)
from fairtrial.grading import buckets, corrections, record
from fairtrial.grading.first_green import Replay
from fairtrial.grading.judge import Judgement, judge
from fairtrial.grading.judge_box import Words
from fairtrial.grading.rejudge import Replays, replays
from fairtrial.grading.scratch import place as scratch_place
from fairtrial.grading.seen import Seen, look
from fairtrial.instruments.endpoint.merge import merged
from fairtrial.paths import Attempt, AttemptId, Results
from fairtrial.plan.files import CORRECTION, FREEZE, place
from fairtrial.wire.captured import report_of, streams


@lean
class Graded:
    """Everything one grade found, before it is written down."""

    attempt: Attempt
    evidence: dict[str, Any]
    spec: dict[str, Any]
    events: dict[str, Any]
    fault: FaultFound | None
    judgement: Judgement
    replays: Replays = field(default_factory=Replays)
    notes: list[str] = field(default_factory=list)
    damaged: bool = False

    @cached_property
    def seen(self) -> Seen:
        """What effort and compliance are counted from."""
        first = self.replays.first_green
        folder = None if self.damaged else self.attempt.folder
        return look(folder, self.evidence, self.events, check=self.spec["check"], first_green=first)

    @cached_property
    def bypassed(self) -> int | None:
        """Version-control changes that no traced command explains."""
        return buckets.bypassed(self.seen.trace or [], self.seen.facts, self.seen.classes)


def run(results: Results, attempt_id: AttemptId, grade12: str) -> None:
    """Grade once; an existing result.json is final and is left alone, unless it is not a whole record."""
    attempt = results.attempt(attempt_id)
    if is_whole(attempt.result(grade12)):
        return
    evidence = load(attempt.evidence, "evidence")
    spec = load_spec(results, grade12)
    graded = examine(results, attempt, evidence, spec)
    write(graded, grade12)


def is_whole(result: Path) -> bool:
    """Is there a record that can be read? A torn, empty or null one decides nothing."""
    try:
        return bool(load(result))
    except UserError:
        return False


def load_spec(results: Results, grade12: str) -> dict[str, Any]:
    """The frozen grade specification; one that is not what its name says is refused."""
    path = results.gradespec(grade12)
    if not path.exists():
        raise UserError(f"{path}: the frozen grade specification is missing; {FREEZE}")
    spec = load(path)
    if not digest(spec).startswith(grade12):
        raise UserError(f"{path}: was changed; delete it and {FREEZE}")
    return spec


def examine(results: Results, attempt: Attempt, evidence: dict[str, Any], spec: dict[str, Any]) -> Graded:
    """Verify the seal, read the stream, judge the end tree, replay the others."""
    reader: Any = registry.load("fairtrial.harnesses", spec["adapter"], "events")
    excused, rewritten = pruned_of(attempt.folder)
    if "agent-stdout.txt" in excused:
        raise UserError(f"{attempt.id}: its transcript was pruned, so that it cannot be graded again")
    options = evidence["recipe"]["harness"]["options"]
    edited = altered(evidence)
    wrong = ["evidence.json was changed"] if edited else []
    wrong += mismatches(attempt.folder, evidence["files"], excused, rewritten)
    if wrong:
        # What was changed may say anything: neither its cost nor its ending is believed.
        endpoint = None if edited else evidence["instruments"].get("endpoint")
        nothing = merged(reader.read(Streams(b"", b"", options=options)), endpoint)
        error = f"{DAMAGED}: {'; '.join(wrong[:5])}"
        unknown = Judgement("verifier_error", error=error)
        return Graded(attempt, evidence, spec, nothing, None, unknown, notes=[error], damaged=True)
    events = reader.read(streams(attempt.folder, options))
    ended = reader.classify(events, report_of(evidence))
    fault = ended if isinstance(ended, FaultFound) else None
    events = merged(events, evidence["instruments"].get("endpoint"))
    judgement, replayed = judged(results, attempt, evidence, spec)
    notes = [f"fault found at grading: {fault.message}; fairtrial redo {attempt.id} --reason '...'"] if fault else []
    return Graded(attempt, evidence, spec, events, fault, judgement, replayed, notes)


def judged(
    results: Results, attempt: Attempt, evidence: dict[str, Any], spec: dict[str, Any]
) -> tuple[Judgement, Replays]:
    """The verdict on the end tree, always fresh, and the replay of the distinct trees before it."""
    from fairtrial.instruments.snapshots.export import Recording

    recording = Recording(attempt.folder)
    with (
        contextlib.closing(recording),
        tempfile.TemporaryDirectory(prefix="ft-", dir=scratch_place(recording), ignore_cleanup_errors=True) as name,
    ):
        scratch = Path(name)
        task, final, words = scratch / "task", scratch / "final", Words(scratch / "boxes")
        place_task(results, spec, task)
        absent = recording.restore(recording.end, final)
        policy = evidence["recipe"]["isolation"]["policy"]
        verdict = judge(spec, task, final, scratch, box_policy=policy, spent=True, words=words)
        verdict = corrections.effective(verdict, task, spec, recording.end)
        verdict.degraded += [f"judged without {os.fsdecode(name)!r}: too large or unreadable" for name in absent[:5]]
        return verdict, replays(
            results, recording, spec, verdict, task=task, scratch=scratch, evidence=evidence, words=words
        )


def place_task(results: Results, spec: dict[str, Any], into: Path) -> None:
    """Lay the frozen task package out for the judge."""
    for name in ("workspace", "acceptance", "verifier", "solution"):
        place(results, spec[name], into / name)
    if spec["workspace_script"]:
        (into / "workspace.sh").write_bytes(results.blob(spec["workspace_script"]).read_bytes())
    if spec["corrections"]:
        write_bytes(into / CORRECTION, results.blob(spec["corrections"]).read_bytes(), durable=False)


def write(graded: Graded, grade12: str) -> None:
    """Side files first, result.json last."""
    folder = graded.attempt.grade(grade12)
    folder.mkdir(parents=True, exist_ok=True)
    side = {
        "agent-events.json": graded.events,
        "trace-buckets.json": buckets.record(graded.seen.trace or [], graded.seen.facts, graded.seen.classes),
        "replay.json": {key: replay_record(value) for key, value in graded.replays.tables().items()},
    }
    for name, content in side.items():
        dump(folder / name, content, durable=False)
    output = graded.judgement.acceptance_output + graded.judgement.verifier_output
    write_bytes(folder / "verifier-output.txt", output.encode("utf-8", "replace"), durable=False)
    result = record.result(graded, folder)
    result["artifacts"] = {p.name: file_digest(p) for p in sorted(folder.iterdir()) if p.name != "result.json"}
    confirm(result, "result", str(graded.attempt.result(grade12)))
    dump(graded.attempt.result(grade12), result)


def replay_record(replay: Replay | None) -> dict[str, Any] | None:
    """The table of one replay."""
    return None if replay is None else replay.record()
