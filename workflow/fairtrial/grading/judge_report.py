"""What a verifier's process said, turned into named checks or a reason why it says nothing. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fairtrial.contracts.lean import field, lean

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NO_TEST = re.compile(
    r"(?<![\d.])0 (?:tests? )?(?:passed|passing)\b|\bno tests (?:ran|found)\b|\bran 0 tests\b|\b(?:tests|pass) 0\b",
    re.I,
)
_SOME_TEST = re.compile(
    r"(?<!\d)[1-9]\d* (?:tests? )?(?:passed|passing|failed|failing|errors?)\b"
    r"|\bran [1-9]\d* tests?\b|\b(?:tests|pass|fail) [1-9]",
    re.I,
)
_CANNOT_START = {126: "is not executable", 127: "was not found"}
_SIGNAL_BASE = 128  # a shell's and a box's way to say killed by a signal
_DETAIL = 4000


@lean
class Said:
    """Checks by name in the order reported, or the error; on an error `checks` holds what was reported before it."""

    checks: dict[str, tuple[bool, str]] = field(default_factory=dict)
    error: str | None = None
    broken_check: str | None = None  # the check during which the verifier itself broke


@lean
class Run:
    """How the verifier's process ended. `status`: exit status, negative signal number when killed."""

    status: int
    report: bytes  # the private channel
    log: bytes  # everything else it printed
    timed_out: bool = False
    seconds: float = 0.0
    verdict_file: bytes = b""


def plain_text(data: bytes) -> str:
    """Output without colour, whatever its encoding."""
    return _COLOUR.sub("", data.decode("utf-8", errors="replace"))


def no_test_ran(text: str) -> bool:
    """True when a test runner's output says that zero tests ran and nothing says that some did."""
    return bool(_NO_TEST.search(text)) and not _SOME_TEST.search(text)


def read_checks(run: Run, expected: Mapping[str, str], nonce: str) -> Said:
    """The report of a `checks` verifier. `expected`: the declared check names; every one exactly once, none other."""
    if run.timed_out:
        return Said(error=f"the verifier did not end within its time limit ({run.seconds:.0f} s)")
    if run.status < 0 or run.status > _SIGNAL_BASE:
        number = -run.status if run.status < 0 else run.status - _SIGNAL_BASE
        return Said(error=f"the verifier was killed by signal {number}")
    if run.status in _CANNOT_START and not run.report.strip():
        return Said(error=f"the verifier or a program of it {_CANNOT_START[run.status]} (status {run.status})")
    document, problem = _document(run)
    if document is None:
        return Said(error=problem)
    if document.get("nonce") != nonce:
        return Said(error="the report does not carry this run's nonce; it was not written by this run of the verifier")
    said = _checks(document, expected)
    if said.error is None and run.status != 0:
        said.error = f"the verifier contradicts itself: a full report, yet exit status {run.status}"
    return said


def _document(run: Run) -> tuple[dict[str, Any] | None, str | None]:
    text = run.report.decode("utf-8", errors="replace").strip()
    if not text:
        how = "exit status 0" if run.status == 0 else f"exit status {run.status}"
        return None, f"the verifier reported nothing ({how})" + _tail(run.log)
    try:
        document, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError) as e:
        return None, f"the report is not one whole JSON document ({e})" + _tail(run.log)
    if text[end:].strip():
        return None, "the verifier reported more than one document"
    if not isinstance(document, dict) or not isinstance(document.get("checks"), list):
        return None, 'the report is not of the form {"nonce": ..., "checks": [...]}'
    return document, None


def _tail(log: bytes) -> str:
    text = plain_text(log).strip()
    return f": {text[-500:]}" if text else ""


def _checks(document: dict[str, Any], expected: Mapping[str, str]) -> Said:
    said = Said()
    for row in document["checks"]:
        fine = isinstance(row, dict) and isinstance(row.get("name"), str) and isinstance(row.get("passed"), bool)
        if not fine:
            said.error = f"a check in the report has no name or no true/false `passed`: {str(row)[:200]}"
        elif row["name"] not in expected:
            said.error = f"unknown check {row['name']!r}; declared: {', '.join(expected)}"
        elif row["name"] in said.checks:
            said.error = f"check {row['name']!r} is reported twice"
        if said.error:
            return said
        said.checks[row["name"]] = (row["passed"], str(row.get("detail") or "")[:_DETAIL])
    broken = document.get("error")
    if isinstance(broken, dict):
        said.broken_check = str(broken.get("check"))
        said.error = f"the verifier broke in check {said.broken_check!r}: {str(broken.get('detail'))[:_DETAIL]}"
    elif missing := [name for name in expected if name not in said.checks]:
        said.error = f"no word about {', '.join(missing)}"
    return said


def read_exit(run: Run, name: str = "verify") -> Said:
    """The single check of an `exit` verifier: status 0 passes it, another fails it, no real run is an error."""
    text = plain_text(run.report + b"\n" + run.log)
    if run.timed_out:
        return Said(error=f"the verifier did not end within its time limit ({run.seconds:.0f} s)")
    if run.status < 0 or run.status > _SIGNAL_BASE:
        number = -run.status if run.status < 0 else run.status - _SIGNAL_BASE
        return Said(error=f"the verifier was killed by signal {number}")
    if run.status in _CANNOT_START:
        return Said(error=f"the verifier or a program of it {_CANNOT_START[run.status]} (status {run.status})")
    if no_test_ran(text):
        return Said(error="the verifier's output says that no test ran" + _tail(run.report + run.log))
    passed = run.status == 0
    if problem := _contradiction(run.verdict_file, passed):
        return Said(error=problem)
    return Said(checks={name: (passed, "" if passed else text.strip()[-_DETAIL:])})


def _contradiction(written: bytes, passed: bool) -> str | None:
    """A verifier that also writes $VERDICT_FILE must say the same there."""
    if not written.strip():
        return None
    try:
        document = json.loads(written)
    except (ValueError, RecursionError) as e:
        return f"the verdict file is not whole JSON ({e})"
    said = document.get("passed") if isinstance(document, dict) else None
    if said is not passed:
        return f"the verifier contradicts itself: the verdict file says passed={said}, the exit status says {passed}"
    return None
