"""Sealed evidence graded again: damaged, read by a newer reader, or judged by a verifier that broke once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fairtrial.analysis import dataset
from fairtrial.capture import attempt, seal
from fairtrial.capture.settings import Settings
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.protocols import FaultFound
from fairtrial.contracts.records import digest, dump, load
from fairtrial.grading import grade
from fairtrial.harnesses.command import events as reader
from fairtrial.paths import Attempt, Results
from fairtrial.plan import recipe
from fairtrial.upkeep.regrade import regrade

from tests.lab import CHECKOUT, Lab

SAID = {"type": "result", "subtype": "success", "result": "ok", "num_turns": 1, "total_cost_usd": 0.02,
        "usage": {"input_tokens": 9, "output_tokens": 3}}  # fmt: skip
BROKEN = """\
from fairtrial.verify import Verification
from pathlib import Path
v = Verification()
@v.check("answer")
def answer() -> None:
    if not Path({flag!r}).exists():
        raise RuntimeError("the verifier's own mistake")
    v.equal(v.text("answer.txt"), "42\\n")
v.finish()
"""


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Results, Attempt, str]]:
    """Runs one attempt in this process: (results, attempt, its planned grade)."""

    def make(verifier: str | None = None, work: str = "") -> tuple[Results, Attempt, str]:
        lab = Lab(tmp_path, tasks=["one"])
        package = tmp_path / "suites" / "tiny" / "one"
        if verifier:
            (package / "verifier" / "verify.py").write_text(verifier)
        options = {"template": ["sh", "-c", f"{work}echo 42 > answer.txt; echo '{json.dumps(SAID)}'"]}
        entry = {"adapter": "command", "network": "none", "free": True, "options": options | {"output": "claude-json"}}
        lab.harnesses["agent"] = entry
        lab.config.update(harnesses=["agent"], isolation="none", trace=[], repetitions=1)
        lab.write()
        done = lab.fairtrial("plan", "--write", "--configfile", "config.yaml")
        assert done.returncode == 0, done.stderr
        monkeypatch.chdir(tmp_path)
        results = Results(Path("results"))
        [cell] = load(results.experiment("default").matrix)["cells"]
        one = results.attempt(f"tiny/one/agent/none/{cell['recipe']}/r1")
        settings = Settings(free=frozenset({"agent/none"}), min_free_bytes=0)
        assert attempt.run(results, one.id, settings) == 0
        return results, one, cell["grade"]

    return make


def again(results: Results, one: Attempt, planned: str, number: int) -> dict:
    """The record of a grade whose specification differs in the grader's number, as a newer fairtrial plans it."""
    spec = {**load(results.gradespec(planned)), "grader": number}
    grade12 = digest(spec)[:12]
    dump(results.gradespec(grade12), spec)
    grade.run(results, one.id, grade12)
    return load(one.result(grade12), "result")


def changes(content: bytes) -> dict[str, bytes | None]:
    """Ways to damage a file; None deletes it."""
    half = len(content) // 2
    return {
        "first byte": bytes([content[0] ^ 0x80]) + content[1:],
        "a byte": content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :],
        "emptied": b"",
        "cost raised": content.replace(b"0.02", b"9.02") + b" ",
        "null": b"null\n[]\n",
        "deleted": None,
    }


def test_any_changed_sealed_file_is_evidence_damaged(sealed) -> None:
    """Whatever file and whatever change: no verdict, no score, no cost read from it; whole again, it is green again."""
    results, one, planned = sealed()
    before = again(results, one, planned, 100)
    assert (before["outcome"], before["performance"]["time_cost"]["cost_usd"]) == ("green", 0.02)
    number = 100
    for name in load(one.evidence)["files"]:
        content = (one.folder / name).read_bytes()
        for how, damaged in changes(content or b" ").items():
            (one.folder / name).unlink()
            if damaged is not None and damaged != content:
                (one.folder / name).write_bytes(damaged)
            number += 1
            found = again(results, one, planned, number)
            correctness = found["performance"]["correctness"]
            assert correctness["verdict"] == "verifier_error", (name, how)
            assert correctness["verifier_error"].startswith(f"evidence_damaged: {name} "), (name, how)
            assert (found["outcome"], found["scored"]) == (None, False), (name, how)
            assert found["performance"]["time_cost"]["cost_usd"] is None, (name, how)
            (one.folder / name).write_bytes(content)
    assert again(results, one, planned, number + 1)["outcome"] == "green"


def test_a_changed_seal_is_evidence_damaged_too(sealed) -> None:
    """evidence.json covers itself, also after its `sealed` file was deleted and written again; an older one cannot."""
    results, one, planned = sealed()
    content = one.evidence.read_bytes()
    record = json.loads(content)
    edits = [{"ending": "timeout"}, {"attempt_id": f"{one.id}0"}, {"seal": "0" * 64}, {"wall_seconds": 0.5}]
    for number, edit in enumerate(edits, 200):
        one.evidence.write_text(json.dumps({**record, **edit}))
        one.sealed.unlink()
        seal.republish(one)
        found = again(results, one, planned, number)["performance"]["correctness"]
        assert found["verdict"] == "verifier_error", edit
        assert found["verifier_error"].startswith("evidence_damaged: evidence.json was changed"), edit
    one.evidence.write_text(json.dumps(record))  # spelled otherwise, the same record
    assert again(results, one, planned, 300)["outcome"] == "green"
    one.evidence.write_text(json.dumps({key: value for key, value in record.items() if key != "seal"}))
    assert again(results, one, planned, 301)["outcome"] == "green"


def test_damaged_evidence_is_a_problem_and_the_tables_are_built(sealed) -> None:
    """The attempt stays a row without a score, and problems.json names the file."""
    results, one, planned = sealed()
    stdout = one.folder / "agent-stdout.txt"
    stdout.write_bytes(stdout.read_bytes() + b"\n")
    grade.run(results, one.id, planned)
    out = results.experiment("default").dataset
    counts = dataset.build(results.root, load(results.experiment("default").matrix), out)
    assert (counts["done"], counts["problems"]) == (1, 1)
    [problem] = json.loads((out / "problems.json").read_bytes())["problems"]
    assert problem["reason"] == "evidence_damaged: agent-stdout.txt was changed"
    assert problem["attempt_id"] == str(one.id)


def test_a_changed_seal_is_no_result(sealed) -> None:
    """evidence.json itself edited before a grade: the record is refused, because `sealed` names another seal."""
    results, one, planned = sealed()
    one.evidence.write_bytes(one.evidence.read_bytes().replace(b'"agent_seconds": ', b'"agent_seconds": 1'))
    grade.run(results, one.id, planned)
    out = results.experiment("default").dataset
    dataset.build(results.root, load(results.experiment("default").matrix), out)
    [problem] = json.loads((out / "problems.json").read_bytes())["problems"]
    assert "other evidence" in problem["reason"]


def test_a_fault_that_only_a_newer_reader_sees_is_not_scored(sealed, monkeypatch: pytest.MonkeyPatch) -> None:
    """fault_found_at_grading: verdict kept, no outcome, no score, and the note says how to pay again."""
    results, one, planned = sealed()
    monkeypatch.setattr(reader, "classify", lambda events, report: FaultFound("rate_limited", "429 seen late"))
    found = again(results, one, planned, 200)
    assert (found["outcome"], found["scored"]) == (None, False)
    execution = found["performance"]["execution"]
    assert (execution["ending"], execution["ending_reason"]) == ("fault_found_at_grading", "429 seen late")
    assert found["performance"]["correctness"]["verdict"] == "passed"
    assert found["performance"]["time_cost"]["cost_usd"] == 0.02
    assert any(f"fairtrial redo {one.id}" in note for note in found["notes"])


@pytest.mark.parametrize(("module", "name", "key"), [(recipe, "GRADER", "grader"), (reader, "PARSER", "parser")])
def test_a_higher_number_is_a_new_grade_of_the_same_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, name: str, key: str
) -> None:
    """GRADER and PARSER stand in the grade's digest and in no recipe: graded again, and no agent."""
    from fairtrial.plan import config
    from fairtrial.plan.matrix import expand

    options = {"template": ["true"], "output": "none"}
    lab = Lab(tmp_path, tasks=["one"], config={"harnesses": ["agent"]},
              harnesses={"agent": {"adapter": "command", "free": True, "options": options}})  # fmt: skip

    def cell():
        raw = json.loads((tmp_path / "config.yaml").read_text())
        return expand(config.load(raw, CHECKOUT, lab.folder)).cells[0]

    before = cell()
    monkeypatch.setattr(module, name, 77)
    after = cell()
    assert after.row["recipe_sha256"] == before.row["recipe_sha256"]
    assert after.row["grade_sha256"] != before.row["grade_sha256"]
    assert after.gradespec[key] == 77


@pytest.mark.parametrize("content", [b"", b"null\n", b'{"schema_version": 1, "att'], ids=["empty", "null", "torn"])
def test_half_a_result_is_none_and_is_graded_again(sealed, content: bytes) -> None:
    """O17: what is no whole record decides nothing; from the same seal it is made again."""
    results, one, planned = sealed()
    one.result(planned).parent.mkdir(parents=True)
    one.result(planned).write_bytes(content)
    grade.run(results, one.id, planned)
    first = load(one.result(planned), "result")
    assert first["outcome"] == "green"
    grade.run(results, one.id, planned)
    assert load(one.result(planned)) == first


def test_a_file_too_large_to_keep_is_named_in_the_notes(sealed) -> None:
    """The rest of the workspace is judged, and the result says what was not there."""
    results, one, planned = sealed(work="truncate -s 5G giant; ")
    found = again(results, one, planned, 300)
    assert found["outcome"] == "green"
    assert "judged without 'giant': too large or unreadable" in found["notes"]


def test_a_verifier_error_is_graded_again_and_a_verdict_is_not(sealed, tmp_path: Path) -> None:
    """The earlier grade is kept beside it, the evidence is untouched, and what is decided stays decided."""
    flag = tmp_path / "mended"
    results, one, planned = sealed(BROKEN.format(flag=str(flag)))
    grade.run(results, one.id, planned)
    assert load(one.result(planned))["performance"]["correctness"]["verdict"] == "verifier_error"
    seal = hashlib.sha256(one.evidence.read_bytes()).hexdigest()
    flag.touch()
    assert "verdict was verifier_error, is passed" in regrade(one)
    assert load(one.result(planned), "result")["outcome"] == "green"
    kept = one.folder / "grades" / f"{planned}-error-1" / "result.json"
    assert load(kept)["performance"]["correctness"]["verdict"] == "verifier_error"
    assert hashlib.sha256(one.evidence.read_bytes()).hexdigest() == seal
    with pytest.raises(UserError, match="is final"):
        regrade(one)
