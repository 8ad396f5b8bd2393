"""Mistakes on the command line: one line, exit code 2, before anything is run or written."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairtrial.__main__ import main
from fairtrial.analysis import recipes
from fairtrial.capture.spend.leases import Lease, identity
from fairtrial.contracts.errors import Fault, UserError
from fairtrial.contracts.records import dump
from fairtrial.harnesses.command.launch import probe_version, split
from fairtrial.paths import AttemptId, Results
from fairtrial.upkeep import once, redo

EMPTY = ("--results", "nowhere")


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a refused command says."""
    try:
        code = main(arguments)
    except SystemExit as end:  # the parser's own way
        code = end.code if isinstance(end.code, int) else 1
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1), err
    return err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list", "tsaks"], "invalid choice: 'tsaks'"),
        (["redo", "x"], "fairtrial redo: the following arguments are required: --reason; `fairtrial redo --help`"),
        (["import", "result", "x"], "invalid choice: 'result'"),
        (["try", "x", "--wall-seconds", "abc"], "invalid float value: 'abc'"),
        (["try", "x", "--wal-seconds", "5"], "unrecognized arguments: --wal-seconds"),
        (["check", "--jobs", "0"], "--jobs 0: give 1 or more"),
        (["check", "tally-gruop"], "matches no task (did you mean 'tally-group'?); suites"),
        (["doctor", "isolaton"], "unknown probe 'isolaton'"),
        (["show", "x", "--at", "1"], "name a new folder with --workspace DIR"),
        (["dataset", "--from", "x" * 300, "--out", "y"], "File name too long"),
        (["recipes", *EMPTY], "nowhere is not a folder"),
        (["recipes", "--results", ".", "--since", "yesterday"], "give a day such as 2026-01-31"),
        (["recipes", "--results", ".", "--name", "gone"], "planned experiments: none"),
        (["try", "tally-group", "--agent-cmd", "x 'y", *EMPTY], "No closing quotation; quote it as for a shell"),
        (["try", "tally-group", "--agent-cmd", "x", "--green-cmd", 'tru "', *EMPTY], "it is one line for sh"),
        (["try", "tally-group", "--agent-cmd", "x", "--wall-seconds", "0", *EMPTY], "--wall-seconds 0: must be"),
        (
            ["try", "tally-group", "--agent-cmd", "x", "--wall-seconds=-5", *EMPTY],
            "--wall-seconds -5: must be more than 0",
        ),
        (["try", "tally-group", "--agent-cmd", "x", "--csv", ".", *EMPTY], "Is a directory; name a file"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Exit code 2, nothing on standard output, one line that says what is wrong; nothing is left behind."""
    monkeypatch.chdir(tmp_path)
    assert words in said(arguments, capsys)
    assert list(tmp_path.iterdir()) == []


def test_a_csv_that_can_be_written_is_not_made_before_there_is_a_row(tmp_path: Path) -> None:
    """Asking leaves nothing, and does not touch what is there."""
    once.writable(tmp_path / "deep" / "new.csv")
    assert not (tmp_path / "deep" / "new.csv").exists()
    (tmp_path / "old.csv").write_text("a,b\n")
    once.writable(tmp_path / "old.csv")
    assert (tmp_path / "old.csv").read_text() == "a,b\n"


def test_an_open_quotation_in_a_template_is_the_users_mistake() -> None:
    """It is told with the template."""
    with pytest.raises(UserError, match=r"template: .*No closing quotation"):
        split('my-agent "{prompt}')


def test_a_program_here_that_cannot_be_started_is_told_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No right to execute it, or only its bare name: each with what to do."""
    monkeypatch.chdir(tmp_path)
    Path("agent").write_text("#!/bin/sh\n")
    with pytest.raises(Fault, match=r"\./agent may not be executed; chmod \+x \./agent"):
        probe_version({"template": "./agent"})
    Path("agent").chmod(0o755)
    with pytest.raises(Fault, match=r"agent is not on PATH; the one in this folder is \./agent"):
        probe_version({"template": "agent"})
    with pytest.raises(Fault, match="nowhere is not on PATH; install it"):
        probe_version({"template": "nowhere"})
    assert probe_version({"template": "./agent"}) is None


def test_moments_of_recipes() -> None:
    """A day and a time are taken; what would be compared as a text without meaning is not."""
    for fine in ("2026-01-31", "2026-01-31T14:30", "2026-01-31T14:30:00.123Z"):
        assert recipes.select([], {}, since=fine, until=fine) == []
    for wrong in ("31.1.2026", "2026", "2026-1-31", "2026-01-31 14:30", ""):
        with pytest.raises(UserError, match="give a day such as"):
            recipes.select([], {}, until=wrong)


def test_listed_tasks_stand_in_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """A long label moves no title."""
    assert main(["list", "tasks"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    titles = ("Add --json to tally stats", "Write tests that catch")
    starts = {line.index(title) for line in lines for title in titles if title in line}
    assert len(lines) > 30 and len(starts) == 1


def test_an_attempt_that_a_run_counts_on_is_not_set_aside(tmp_path: Path) -> None:
    """Refused while the run lives and plans it; another repetition, and the time after the run, are free."""
    results = Results(tmp_path)
    cell = {"suite": "s", "task": "t", "harness": "h", "model": "m", "recipe": "0" * 12, "repetitions": 2}
    ids = [AttemptId.parse(f"s/t/h/m/{'0' * 12}/r{n}") for n in (1, 2, 3)]
    for one in ids:
        dump(results.attempt(one).evidence, {})
    experiment = results.experiment("e")
    dump(experiment.matrix, {"cells": [cell]})
    lock = experiment.folder / ".running.json"
    record = identity("experiment e", "own")
    dump(lock, record)
    with Lease(lock, record):
        with pytest.raises(UserError, match=r"experiment 'e' is being run by process .* and counts on it; wait"):
            redo.redo(results, ids[0], "why")
        assert "set aside" in redo.redo(results, ids[2], "why")
    lock.unlink(missing_ok=True)
    assert "set aside" in redo.redo(results, ids[1], "why")
