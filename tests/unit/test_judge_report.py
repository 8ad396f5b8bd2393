"""What a verifier's process said, read without running one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fairtrial.grading.judge_report import Run, no_test_ran, read_checks, read_exit
from hypothesis import given, settings
from hypothesis import strategies as st

EXPECTED = {"a": "milestone", "b": "minefield"}
GOOD = [{"name": "a", "passed": True, "detail": ""}, {"name": "b", "passed": False, "detail": "why"}]


def report(checks: Any, **other: Any) -> bytes:
    return json.dumps({"nonce": "n", "checks": checks, **other}).encode()


def test_a_full_report_is_its_checks() -> None:
    """Every declared check once, in the order reported."""
    said = read_checks(Run(0, report(GOOD), b"noise"), EXPECTED, "n")
    assert (said.error, said.checks) == (None, {"a": (True, ""), "b": (False, "why")})


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (Run(0, b"", b""), "reported nothing (exit status 0)"),
        (Run(3, b" \n", b"Traceback"), "reported nothing (exit status 3): Traceback"),
        (Run(0, report(GOOD)[:30], b""), "not one whole JSON document"),
        (Run(0, report(GOOD) + b"\n" + report(GOOD), b""), "more than one document"),
        (Run(0, report(GOOD) + b" passed", b""), "more than one document"),
        (Run(1, report(GOOD), b""), "contradicts itself"),
        (Run(0, report(GOOD[:1]), b""), "no word about b"),
        (Run(0, report([*GOOD, GOOD[0]]), b""), "reported twice"),
        (Run(0, report([*GOOD, {"name": "c", "passed": True}]), b""), "unknown check 'c'; declared: a, b"),
        (Run(0, report([{"name": "a", "passed": "yes"}]), b""), "no name or no true/false"),
        (Run(0, report({"a": True}), b""), "not of the form"),
        (Run(0, b"[1]", b""), "not of the form"),
        (Run(0, b"[" * 100000, b""), "not one whole JSON document"),
        (Run(-9, report(GOOD), b""), "killed by signal 9"),
        (Run(137, report(GOOD), b""), "killed by signal 9"),
        (Run(127, b"", b""), "was not found"),
        (Run(126, b"", b""), "is not executable"),
        (Run(-9, report(GOOD), b"", timed_out=True, seconds=60), "within its time limit (60 s)"),
        (Run(0, report(GOOD).replace(b'"n"', b'"m"'), b""), "does not carry this run's nonce"),
        (Run(3, report(GOOD[:1], error={"check": "b", "detail": "KeyError"}), b""), "broke in check 'b': KeyError"),
    ],
)
def test_anything_less_is_an_error_with_its_reason(run: Run, reason: str) -> None:
    """A verifier that says less, more, twice, or not by itself gives no verdict, and the reason names it."""
    said = read_checks(run, EXPECTED, "n")
    assert reason in str(said.error)


@settings(database=None)
@given(st.binary(max_size=300), st.integers(-20, 260))
def test_no_bytes_make_the_reader_raise(data: bytes, status: int) -> None:
    """Whatever a verifier prints is a report or an error, never an exception."""
    assert read_checks(Run(status, data, data), EXPECTED, "n").error
    said = read_exit(Run(status, data, data))
    assert said.error or list(said.checks) == ["verify"]


@pytest.mark.parametrize(
    ("run", "passed"),
    [
        (Run(0, b"\x1b[32mPASSED\x1b[0m t.py::a\nSystem check text PASSED? \n", b""), True),
        (Run(0, b"", b""), True),
        (Run(1, b"\x1b[31m1 failed\x1b[0m", b""), False),
        (Run(101, b"test result: FAILED. 0 passed; 1 failed", b""), False),
        (Run(0, b"5 passed; 0 failed\nDoc-tests\n0 passed", b""), True),
        (Run(0, b"", b"", verdict_file=b'{"passed": true}'), True),
    ],
)
def test_an_exit_status_decides_the_single_check(run: Run, passed: bool) -> None:
    """Status 0 passes `verify`, another fails it; colour and stray words change nothing."""
    said = read_exit(run)
    assert (said.error, said.checks["verify"][0]) == (None, passed)


@pytest.mark.parametrize(
    "run",
    [
        Run(5, b"no tests ran", b""),
        Run(0, b"0 passed", b""),
        Run(0, b"\x1b[33m0 passed\x1b[0m in 0.01s", b""),
        Run(0, b"", b"Ran 0 tests in 0.000s\n\nOK"),
        Run(0, b"# tests 0\n# pass 0\n# fail 0", b""),
        Run(127, b"", b""),
        Run(126, b"", b""),
        Run(-9, b"", b""),
        Run(139, b"", b""),
        Run(0, b"", b"", timed_out=True),
        Run(0, b"", b"", verdict_file=b'{"passed": tr'),
        Run(1, b"", b"", verdict_file=b'{"passed": true}'),
    ],
)
def test_an_exit_verifier_that_checked_nothing_gives_no_verdict(run: Run) -> None:
    """No test, no program, a kill, a hang or two answers are an error, whatever the status."""
    assert read_exit(run).error


@pytest.mark.parametrize("text", ["10 passed", "1 passed, 0 failed", "Ran 3 tests", "ok", "version 1.0 passed", ""])
def test_output_of_real_runs_is_not_taken_for_none(text: str) -> None:
    """A count that merely ends in 0, or no count at all, is not `zero tests`."""
    assert not no_test_ran(text)
