"""Replay of an attempt's trees: one judgement a tree gives both the full verdict and the green command's alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from fairtrial.contracts.lean import lean
from fairtrial.contracts.records import dump, load
from fairtrial.grading.first_green import Replay, Row, Verdict, decide, mark_unfinished, replay
from fairtrial.grading.judge import Judgement, judge
from fairtrial.grading.judge_box import Words
from fairtrial.grading.judge_verifier import compile_modules
from fairtrial.paths import Results

_FULL: dict[str, Verdict] = {"passed": "green", "failed": "red", "verifier_error": "unknown"}


@lean
class Replays:
    """The two tables and the two records decided from them; None where there was nothing to replay."""

    full: Replay | None = None
    acceptance: Replay | None = None
    first_green: dict[str, Any] | None = None
    first_acceptance_green: dict[str, Any] | None = None

    def tables(self) -> dict[str, Replay | None]:
        """By name, for replay.json."""
        return {"verifier": self.full, "acceptance": self.acceptance}


def verdicts(judgement: Judgement) -> tuple[Verdict, Verdict]:
    """What one judgement says: (full verifier, green command alone)."""
    green = next((c["passed"] for c in judgement.checks if c["name"] == "acceptance"), None)
    alone: Verdict = "unknown" if green is None else "green" if green else "red"
    return _FULL[judgement.verdict], alone


class _Named:
    """A recording that notes which tree is being laid out."""

    def __init__(self, recording: Any) -> None:
        self._recording = recording
        self.looks: list[dict[str, Any]] = recording.looks
        self.current = ""

    def incomplete(self, tree_id: str) -> list[bytes]:
        return cast("list[bytes]", self._recording.incomplete(tree_id))

    def restore(self, tree_id: str, into: Path) -> list[bytes]:
        self.current = tree_id
        return cast("list[bytes]", self._recording.restore(tree_id, into))

    def changed(self, before: str, after: str) -> set[bytes]:
        return cast("set[bytes]", self._recording.changed(before, after))


def replays(
    results: Results,
    recording: Any,
    spec: dict[str, Any],
    final: Judgement,
    *,
    task: Path,
    scratch: Path,
    evidence: dict[str, Any],
    words: Words,
) -> Replays:
    """Judge what was not judged yet. `recording`: snapshots.export.Recording; `final`: the verdict on its end tree;
    `words`: of boxes that were used before."""
    known = {recording.end: verdicts(final)}
    start = str(recording.looks[0]["tree"]) if recording.looks else ""
    if start and start not in known and (remembered := _remembered(results, spec, start)):
        known[start] = remembered
    alone: dict[str, Verdict] = {tree: pair[1] for tree, pair in known.items()}
    named = _Named(recording)
    if words.made and all(words.made.values()):
        compile_modules(spec["verifier_settings"], task / "verifier")

    def judge_tree(tree: Path) -> Verdict:
        policy = evidence["recipe"]["isolation"]["policy"]
        judged = judge(spec, task, tree, scratch, box_policy=policy, verdict_only=True, spent=True, words=words)
        full, alone[named.current] = verdicts(judged)
        return full

    full = replay(named, judge_tree, known={tree: pair[0] for tree, pair in known.items()}, scratch=scratch)
    if full.verdicts.get(start, "unknown") != "unknown" and start not in known:
        _remember(results, spec, start, (full.verdicts[start], alone[start]))
    return _decided(named, full, alone, spec, evidence["agent_seconds"])


def _decided(
    named: _Named, full: Replay, alone: dict[str, Verdict], spec: dict[str, Any], agent_seconds: float
) -> Replays:
    """Both records, from the verifier's table and from the green command's."""
    made = Replays(full=full, first_green=decide(full.table, agent_seconds))
    if spec["check"] is not None:
        table: list[Row] = [{**row, "verdict": alone.get(row["tree"], "unknown")} for row in full.table]
        mark_unfinished(named, table)
        made.acceptance = Replay(table, alone, full.distinct, full.capped, full.incomplete)
        made.first_acceptance_green = decide(made.acceptance.table, agent_seconds)
    return made


def _place(results: Results, spec: dict[str, Any], tree: str) -> Path:
    from fairtrial.contracts.records import digest

    return results.objects / "starts" / digest(spec)[:24] / f"{tree}.json"


def _remembered(results: Results, spec: dict[str, Any], tree: str) -> tuple[Verdict, Verdict] | None:
    """Every attempt of a task starts from the same tree, so its verdict is asked once per grade."""
    path = _place(results, spec, tree)
    if not path.exists():
        return None
    record = load(path)
    return cast("tuple[Verdict, Verdict]", (record["full"], record["alone"]))


def _remember(results: Results, spec: dict[str, Any], tree: str, pair: tuple[Verdict, Verdict]) -> None:
    dump(_place(results, spec, tree), {"full": pair[0], "alone": pair[1]}, durable=False)
