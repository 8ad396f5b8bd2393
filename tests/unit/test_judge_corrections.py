"""Published corrections of a faulty verifier: where they apply and what they never pardon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fairtrial.contracts.errors import UserError
from fairtrial.grading.corrections import apply, effective, read, verifier_digest
from fairtrial.grading.judge import Judgement

TREE, VERIFIER = "t" * 64, "v" * 64
DECLARED = {"a": "milestone", "b": "minefield"}


def entry(**other: Any) -> dict[str, Any]:
    return {"end_tree": TREE, "verifier_sha256": VERIFIER, "checks": {"a": True}, "reason": "too strict", **other}


def raw(verdict: str = "failed", *, suspect: bool = False, accepted: bool = True) -> Judgement:
    names = (("acceptance", "milestone", accepted), ("a", "milestone", False), ("b", "minefield", True))
    rows = [{"name": n, "kind": k, "passed": p, "detail": "" if p else "no"} for n, k, p in names]
    return Judgement(verdict, [] if verdict == "verifier_error" else rows, suspect=suspect)


def test_a_matching_correction_gives_the_effective_verdict_and_keeps_the_raw_one() -> None:
    """Both hashes match: the named check changes, the raw judgement stays as it was."""
    before = raw()
    changed, reason = apply(before, [entry()], end_tree=TREE, verifier_sha256=VERIFIER)
    assert (changed.verdict, changed.raw_verdict, reason) == ("passed", "failed", "too strict")
    assert changed.checks[1] == {
        "name": "a", "kind": "milestone", "passed": True, "detail": "corrected (too strict); the verifier said: no",
    }  # fmt: skip
    assert before == raw()


@pytest.mark.parametrize("hashes", [{"end_tree": "x"}, {"verifier_sha256": "x"}])
def test_another_response_or_another_verifier_is_not_corrected(hashes: dict[str, str]) -> None:
    """One hash that differs and nothing happens."""
    before = raw()
    assert apply(before, [entry(**hashes)], end_tree=TREE, verifier_sha256=VERIFIER) == (before, None)


@pytest.mark.parametrize("judgement", [raw("verifier_error"), raw(suspect=True)])
def test_an_execution_failure_is_never_pardoned(judgement: Judgement) -> None:
    """A verifier that reached no verdict, or a product that broke it, stays what it is."""
    assert apply(judgement, [entry()], end_tree=TREE, verifier_sha256=VERIFIER) == (judgement, None)


def test_the_visible_command_is_not_the_verifiers_word() -> None:
    """`acceptance` stays failed, and with it the verdict."""
    correction = entry(checks={"a": True, "acceptance": True})
    changed, _ = apply(raw(accepted=False), [correction], end_tree=TREE, verifier_sha256=VERIFIER)
    assert changed.verdict == "failed"


def test_a_correction_can_fail_a_check_too() -> None:
    """A verifier that was too lenient is corrected the same way."""
    changed, _ = apply(raw(), [entry(checks={"a": True, "b": False})], end_tree=TREE, verifier_sha256=VERIFIER)
    assert [row["passed"] for row in changed.checks] == [True, True, False]


def test_the_verifier_digest_is_of_contents() -> None:
    """Order of the manifest and file sizes change nothing, one byte of a source does."""
    one = {"path": "verify.py", "mode": "file", "sha256": "1", "bytes": 3}
    two = {"path": "data.csv", "mode": "file", "sha256": "2"}
    assert verifier_digest([one, two]) == verifier_digest([two, {**one, "bytes": 9}])
    assert verifier_digest([one, two]) != verifier_digest([one, {**two, "sha256": "3"}])


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "schema_version: must be 1"),
        ('{"schema_version": 2}', "schema_version: must be 1"),
        ('{"schema_version": 1}', "allowed keys are schema_version and corrections"),
        (entry(reason=""), r"corrections\[0\]: end_tree, verifier_sha256 and reason"),
        (entry(checks={}), "must map names of checks to true or false"),
        (entry(checks={"a": 1}), "must map names of checks to true or false"),
        (entry(checks={"c": True}), "'c' is not declared; known: a, b"),
        (entry(more=1), "needs exactly the keys checks, end_tree, reason, verifier_sha256"),
    ],
)
def test_a_bad_file_is_named_with_what_is_allowed(tmp_path: Path, document: Any, message: str) -> None:
    """Each mistake is one line with the file, the entry and the allowed form."""
    text = document if isinstance(document, str) else json.dumps({"schema_version": 1, "corrections": [document]})
    path = tmp_path / "corrected-verifier.json"
    path.write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        read(path, DECLARED)
    assert str(path) in str(caught.value)


def test_a_good_file_is_read(tmp_path: Path) -> None:
    """The entries in their order."""
    path = tmp_path / "corrected-verifier.json"
    path.write_text(json.dumps({"schema_version": 1, "corrections": [entry()]}))
    assert read(path, DECLARED) == [entry()]


def test_a_package_with_a_correction_is_graded_by_it(tmp_path: Path) -> None:
    """The placed package's own file is looked up; without one, or for another tree, the raw judgement stands."""
    manifest = [{"path": "verify.py", "mode": "file", "sha256": "1"}]
    spec = {"verifier": manifest, "verifier_settings": {"checks": DECLARED}}
    assert effective(raw(), tmp_path, spec, TREE) == raw()
    (tmp_path / "corrections").mkdir()
    text = json.dumps({"schema_version": 1, "corrections": [entry(verifier_sha256=verifier_digest(manifest))]})
    (tmp_path / "corrections" / "corrected-verifier.json").write_text(text)
    assert effective(raw(), tmp_path, spec, TREE).verdict == "passed"
    assert effective(raw(), tmp_path, spec, "other").raw_verdict is None
