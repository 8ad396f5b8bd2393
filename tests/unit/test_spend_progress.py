"""What a run says of itself: the line of progress, the status, the lines of the logger plug-in."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest
from fairtrial.__main__ import main
from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import dead, invocation, leases, ledger, live, progress
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import dump
from fairtrial.paths import AttemptId, Results
from fairtrial.upkeep import status, tail
from snakemake_interface_logger_plugins.common import LogEvent

GRADE = "2" * 12
ID = AttemptId("s", "t", "h", "m", "0" * 12, 1)


def matrix(repetitions: int = 4) -> dict:
    """One cell."""
    cell = {
        "suite": "s", "task": "t", "harness": "h", "model": "m", "recipe": "0" * 12, "toolset": "git",
        "adoption": "warm", "grade": GRADE, "repetitions": repetitions,
    }  # fmt: skip
    return {"name": "default", "cells": [cell]}


def sealed(results: Results, repetition: int, outcome: str | None) -> None:
    """A sealed attempt, graded when it has an outcome."""
    attempt = results.attempt(f"s/t/h/m/{'0' * 12}/r{repetition}")
    dump(attempt.evidence, {})
    if outcome:
        dump(attempt.result(GRADE), {"outcome": outcome})


@pytest.fixture
def tree(tmp_path: Path) -> Results:
    """Two of four done, one running, two cents spent of a reserved seven."""
    results = Results(tmp_path)
    dump(results.experiment("default").matrix, matrix())
    sealed(results, 1, "green")
    time.sleep(0.02)
    sealed(results, 2, None)
    ledger.reserve(results, Settings(), ID, "a", 0.05)
    ledger.settle(results, Settings(), ID, "a", events={"cost_usd": 0.02, "cost_source": "cli"}, fault=None)
    ledger.reserve(results, Settings(), ID, "b", 0.05)
    record = leases.identity(f"s/t/h/m/{'0' * 12}/r3", "i")
    dead.note(results, record)
    dump(results.attempt(record["attempt_id"]).lease, record)
    return results


def test_the_line_counts_what_is_done_running_and_spent(tree: Results) -> None:
    """One line for a log, with the pace of this run and the last outcome."""
    found = progress.standing(tree, matrix())
    line = progress.line(found, time.time() - 10, 1.0)
    assert line.startswith("2 of 4 attempts done, 1 running; 0.02 USD spent, 0.05 reserved, cap 1.00; about 10 s left")
    assert line.endswith("last: t h m r1 green"), "the last that has an outcome"


def test_what_will_not_end_in_this_run_is_not_waited_for(tree: Results) -> None:
    """A fault of this run and an attempt that will not start take no time; a fault of an earlier run is tried again."""
    since = time.time() - 10
    dump(tree.faults(f"s/t/h/m/{'0' * 12}/r4") / "f" / "fault.json", {})
    found = progress.standing(tree, matrix())
    assert progress.seconds_left(found, since, since + 10) == pytest.approx(5)
    assert progress.seconds_left(found, since, since + 10, not_run=1) == 0
    long_ago = dict.fromkeys(found.faulted, 0.0)
    found.faulted.update(long_ago)
    assert progress.seconds_left(found, since, since + 10) == pytest.approx(10)
    assert "1 fault so far; 1 will not start;" in progress.line(found, since, None, 1)


def test_status_shows_arms_money_and_last_outcomes(tree: Results) -> None:
    """Done, running, left and faults of each arm; an unknown experiment is a mistake that names the known."""
    text = status.status(tree, "default")
    assert "default: 2 of 4 attempts done; not running" in text
    assert [line.split() for line in text.splitlines() if line.startswith("h x git")] == [
        ["h", "x", "git", "x", "warm", "x", "m", "2", "1", "1", "0"]
    ]
    assert "last    t h m r1 green" in text
    with pytest.raises(UserError, match="planned experiments: default"):
        status.status(tree, "other")


def test_after_a_stop_no_time_is_foretold(tree: Results, capsys: pytest.CaptureFixture[str]) -> None:
    """What was not started will not be, so the pace of this run says nothing; until then it does."""
    lock = tree.experiment("default").folder / ".running.json"
    record = leases.identity("experiment default", "own") | {"started_at": "2026-01-01T00:00:00.000Z"}
    dump(lock, record)
    with leases.Lease(lock, record):
        assert "\nleft    about " in status.status(tree, "default")
        invocation.stop(tree, "own", "enough")
        said = status.status(tree, "default")
    assert "stop    no further attempt starts: enough" in said and "\nleft " not in said


@pytest.mark.parametrize("every", ["-1", "0", "0.01", "nan", "inf", "1e12"])
def test_a_pace_that_would_spin_or_never_look_is_refused(
    tree: Results, capsys: pytest.CaptureFixture[str], every: str
) -> None:
    """One line and exit code 2 instead of a loop."""
    assert main(["status", f"--every={every}", "--results", str(tree.root)]) == 2
    assert capsys.readouterr().err.endswith(": give 1 to 86400 seconds\n")


def test_status_says_how_to_go_on_when_only_a_grade_is_missing(tmp_path: Path) -> None:
    """A grader was killed: every attempt is sealed, and still the run is not complete."""
    results = Results(tmp_path)
    dump(results.experiment("default").matrix, matrix(2))
    sealed(results, 1, "green")
    sealed(results, 2, None)
    start = {**leases.identity("experiment default", "i"), "command": "snakemake --cores 2"}
    dump(results.invocation("i") / "start.json", start)
    text = status.status(results, "default")
    assert "grades  1 attempt not graded; the next run does it, without an agent" in text
    assert "go on   snakemake --cores 2" in text
    sealed(results, 2, "red")
    assert "go on" not in status.status(results, "default")


def test_the_reporter_prints_when_something_changed(tree: Results, monkeypatch, capsys) -> None:
    """Every interval a look, a line only for news, none after the end."""
    monkeypatch.setenv(progress.EVERY, "0.05")
    reporter = progress.Reporter(tree, matrix(), None).start()
    time.sleep(0.5)
    sealed(tree, 3, "red")
    time.sleep(0.5)
    reporter.stop()
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("fairtrial: 2 of 4 attempts done") for line in lines)
    assert any(line.startswith("fairtrial: 3 of 4 attempts done") for line in lines)
    assert len(lines) < 15


def test_tail_names_what_runs_when_it_must_choose(tree: Results) -> None:
    """The only one without being named; a part of a name; a list where it is not clear."""
    assert tail.choose(tree, None).id.repetition == 3
    assert tail.choose(tree, "/r3").id.repetition == 3
    with pytest.raises(UserError, match=r"which one\? these run"):
        tail.choose(tree, "nothing like it")


def test_what_failed_is_told_once_a_kind(tmp_path: Path) -> None:
    """Faults of this invocation by pair and message, attempts not run by reason."""
    results = Results(tmp_path)
    for n in (1, 2):
        fault = {"invocation": "i", "harness": "h", "model": "m", "kind": "quota", "message": "no credit"}
        dump(results.faults(ID) / f"f{n}" / "fault.json", fault)
    dump(results.faults(ID) / "f3" / "fault.json", {**fault, "invocation": "earlier"})
    invocation.not_run(results, "i", [ID], "the cap is reached")
    assert live.what_failed(results, "i") == [
        "2 faults of h x m: quota: no credit",
        "1 attempt not run: the cap is reached",
    ]


def record(level: int, message: str, **extra: object) -> logging.LogRecord:
    """One of Snakemake's log records."""
    made = logging.LogRecord("snakemake", level, "", 0, message, None, None)
    made.__dict__.update(extra)
    return made


def test_the_logger_says_why_an_attempt_was_not_run(tmp_path: Path) -> None:
    """To Snakemake it failed; its own log says that it never started. A fault stays a failure."""
    from snakemake_logger_plugin_fairtrial import line

    log = tmp_path / "a.log"
    said = {"event": LogEvent.JOB_ERROR, "rule_name": "attempt", "log": [str(log)]}
    assert line(record(logging.ERROR, "", **said)) == f"snakemake: rule attempt failed; log: {log}"
    log.write_text("s/t/h/m/r1: try 1: rate_limited\ns/t/h/m/r1: not run: the cap is reached: 0.04 USD spent\n")
    reason = "not run: the cap is reached: 0.04 USD spent"
    assert line(record(logging.ERROR, "", **said)) == f"snakemake: rule attempt {reason}; log: {log}"
    log.write_text("s/t/h/m/r1: fault: quota: no credit\n")
    assert line(record(logging.ERROR, "", **said)) == f"snakemake: rule attempt failed; log: {log}"


def test_the_logger_keeps_errors_and_messages_and_drops_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed rule is one line with its log; jobs by the thousand are none."""
    from snakemake_logger_plugin_fairtrial import line

    failed = {"event": LogEvent.JOB_ERROR, "rule_name": "grade", "log": ["a.log"]}
    assert line(record(logging.ERROR, "long", **failed)) == "snakemake: rule grade failed; log: a.log"
    told = {"event": LogEvent.JOB_INFO, "rule_name": "report", "rule_msg": "Rendering the report"}
    assert line(record(logging.INFO, "", **told)) == "snakemake: Rendering the report"
    for extra in ({**told, "rule_name": "attempt"}, {"event": LogEvent.PROGRESS}, {"event": LogEvent.SHELLCMD}, {}):
        assert line(record(logging.INFO, "Select jobs to execute...", **extra)) is None
    assert line(record(logging.ERROR, "WorkflowError: x", event=LogEvent.ERROR)) == "snakemake: WorkflowError: x"
    monkeypatch.setenv("FAIRTRIAL_STAGE", '{"name": "v"}')
    done = line(record(logging.INFO, "Nothing to be done (all requested files are present and up to date)."))
    assert done is not None and "everything is there; `fairtrial report --name v` prints" in done
    for said in (
        "Exiting because a job execution failed. Look above",
        "WorkflowError:\nAt least one job did not complete",
    ):
        assert line(record(logging.ERROR, said)) is None, "fairtrial's own last lines say what failed"
