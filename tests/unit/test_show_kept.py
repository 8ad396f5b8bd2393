"""`fairtrial show` of what is no sealed attempt: faults, attempts set aside; and the end of standard error."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairtrial.__main__ import main
from fairtrial.capture.faults import Failed, keep
from fairtrial.capture.settings import Settings
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.protocols import FaultFound
from fairtrial.contracts.records import dump, load
from fairtrial.paths import Attempt, AttemptId, Results
from fairtrial.upkeep import redo, show

from tests import fabricate

LOUD = "warming up\n\x1b[31mno key: set KEY\x1b[0m\r\n"


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    """A red attempt with words on standard error, in a tree of a few."""
    root = tmp_path / "results"
    fabricate.tree(root, tasks=3, repetitions=4, arms=fabricate.ARMS_3X2[:1])
    found = next(one for one in Results(root).attempts() if load(show.newest_result(one))["outcome"] == "red")
    (found.folder / "agent-stderr.txt").write_text(LOUD, newline="")
    return found


def faulted(results: Results, attempt_id: AttemptId, kind: str = "auth") -> Path:
    """A fault of an attempt, with its evidence; the folder."""
    evidence = results.root / "scratch" / kind
    evidence.mkdir(parents=True)
    (evidence / "agent-stderr.txt").write_text(LOUD, newline="")
    found = FaultFound(kind, "the key was refused\x1b[2J")
    failed = Failed(found, "0" * 64, False, "2026-01-01T00:00:00.000Z", evidence)
    return keep(results, attempt_id, failed, Settings()).parent


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that ends well prints."""
    capsys.readouterr()
    assert main(["show", *arguments]) == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said and "\r" not in said
    return said


def test_a_fault_is_shown_by_its_folder(attempt: Attempt, capsys: pytest.CaptureFixture[str]) -> None:
    """Kind, message, when, cost and the end of standard error; by its record too, and as JSON."""
    results = Results(attempt.folder.parents[6])
    folder = faulted(results, attempt.id)
    said = shown(capsys, str(folder))
    assert said.startswith(f"{attempt.id}\nfault      auth: the key was refused\\x1b[2J\nwhen       2026-01-01T00:00")
    assert "agent was not started\ncost       not said\n" in said and str(folder) in said
    assert said.endswith("  warming up\n  \\x1b[31mno key: set KEY\\x1b[0m\n")
    assert shown(capsys, f"{folder}/fault.json") == said == shown(capsys, f"{folder}/")
    assert shown(capsys, f"faults/{attempt.id}/{folder.name}", "--results", str(results.root)) == said
    assert '"kind": "auth"' in shown(capsys, str(folder), "--json")


def test_the_folder_of_all_faults_is_not_the_sealed_attempt(
    attempt: Attempt, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every fault of that attempt, and nothing of the seal; a folder that is gone is named."""
    results = Results(attempt.folder.parents[6])
    folders = [faulted(results, attempt.id), faulted(results, attempt.id, "quota")]
    said = shown(capsys, str(results.faults(attempt.id)))
    assert said.count("\nfault ") == 2 and "auth" in said and "quota" in said and "outcome" not in said
    with pytest.raises(UserError, match="is no sealed attempt"):
        show.locate(str(folders[0]), results.root)
    assert main(["show", f"{folders[0].parent}/gone"]) == 2
    assert f"gone: no such folder; `fairtrial show {attempt.id}` lists" in capsys.readouterr().err
    assert main(["show", str(folders[0]), "--workspace", "w"]) == 2
    assert "snapshots.json: no such file" in capsys.readouterr().err


def test_an_attempt_lists_its_earlier_faults_and_how_it_complained(
    attempt: Attempt, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line each, with the folder; the end of standard error only where it was not green."""
    results = Results(attempt.folder.parents[6])
    folders = [faulted(results, attempt.id, kind) for kind in ("auth", "quota")]
    said = shown(capsys, str(attempt.folder))
    assert [line.split()[-1] for line in said.splitlines() if line.startswith("earlier ")] == list(map(str, folders))
    assert f"stderr     ends, in {attempt.folder}/agent-stderr.txt:\n  warming up\n" in said
    green = next(one for one in results.attempts() if load(show.newest_result(one))["outcome"] == "green")
    (green.folder / "agent-stderr.txt").write_text(LOUD)
    assert "stderr " not in shown(capsys, str(green.folder)) and "earlier" not in shown(capsys, str(green.folder))


def test_what_was_set_aside_is_shown_with_its_reason(attempt: Attempt, capsys: pytest.CaptureFixture[str]) -> None:
    """By its folder, and by the attempt's name as long as no other was sealed in its place."""
    results = Results(attempt.folder.parents[6])
    redo.redo(results, attempt.id, "the disk was full")
    [aside] = results.redone(attempt.id).iterdir()
    said = shown(capsys, str(aside))
    assert said.startswith(str(attempt.id)) and ": the disk was full\nhad cost " in said
    assert "outcome    red" in said and "no key: set KEY" in said
    fault = faulted(results, attempt.id)
    both = shown(capsys, str(attempt.id), "--results", str(results.root))
    assert "the disk was full" in both and "the key was refused" in both
    assert main(["show", str(attempt.id), "--results", str(results.root), "--workspace", "w"]) == 2
    assert str(fault) in capsys.readouterr().err


def test_a_grade_that_is_there_is_said_and_left(attempt: Attempt, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, exit 0, the same bytes; once the transcript is pruned it also says that no other grade can be made."""
    results, grade = Results(attempt.folder.parents[6]), show.newest_result(attempt).parent.name
    before = show.newest_result(attempt).read_bytes()
    call = ["grade", str(attempt.id), "--grade", grade, "--results", str(results.root)]
    assert main(call) == 0
    said = capsys.readouterr().out
    assert said == f"{attempt.id}: is graded, and a grade is final: {attempt.result(grade)}\n"
    dump(attempt.folder / "pruned.json", {"files": ["agent-stdout.txt"]})
    assert main(call) == 0
    assert capsys.readouterr().out == said.rstrip() + "; it cannot be graded again, its transcript was pruned\n"
    assert show.newest_result(attempt).read_bytes() == before
