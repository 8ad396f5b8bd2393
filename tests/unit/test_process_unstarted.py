"""A program that the system refuses to start is told apart from one that ran and failed, whatever that one prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fairtrial.capture import unstarted
from fairtrial.contracts.protocols import ProcessReport

from tests import box_rig as rig

BOXES = rig.boxes()
LIE = "bwrap: execvp /task/agent: No such file or directory"


@pytest.fixture(params=sorted(BOXES))
def backend(request):
    """Each back end of this machine."""
    return BOXES[request.param]


def started(folder: Path, backend, content: bytes | None, mode: int = 0o755) -> tuple[ProcessReport, str | None]:
    """The report of /task/agent with this content, and why nothing of it ran."""
    box = rig.box(folder, "/task/agent")
    if content is not None:
        (box.workspace / "agent").write_bytes(content)
        (box.workspace / "agent").chmod(mode)
    report = rig.watch(folder, box, backend=backend)
    box.argv[0] = str(box.workspace / "agent")
    return report, unstarted.reason(box, report)


@pytest.mark.parametrize(
    ("content", "mode", "why"),
    [
        (None, 0, "No such file or directory"),
        (b"#!/nowhere/python9\n", 0o755, "No such file or directory"),
        (b"#!/bin/sh\nexit 0\n", 0o644, "Permission denied"),
        (b"\x7fELF\x02\x01\x01" + bytes(200), 0o755, "Exec format error"),
    ],
    ids=["missing", "interpreter missing", "not executable", "another machine's"],
)
def test_what_cannot_be_started_is_told_with_the_reason(tmp_path, backend, content, mode, why) -> None:
    """In a box, under Landlock and as a plain process."""
    _, said = started(tmp_path, backend, content, mode)
    assert said is not None
    assert why in said


@pytest.mark.parametrize("status", [1, 126, 127])
def test_a_program_cannot_talk_its_way_into_a_fault(tmp_path, backend, status) -> None:
    """It prints the sandbox's own words and leaves with the sandbox's own status: it ran, so it failed by itself."""
    text = f"#!/bin/sh\necho '{LIE}' >&2\nexit {status}\n".encode()
    report, said = started(tmp_path, backend, text)
    assert (report.exit_status, report.unstarted, said) == (status, None, None)
    assert LIE in (tmp_path / "err").read_text()


def test_a_program_that_becomes_one_that_is_not_there_failed_by_itself(tmp_path, backend) -> None:
    """The agent's own exec of a missing program is no failure to start the agent."""
    report, said = started(tmp_path, backend, b"#!/bin/sh\nexec /nowhere/agent\n")
    assert (report.exit_status, said) == (127, None)


def test_a_program_killed_by_a_signal_was_started(tmp_path, backend) -> None:
    """However early it dies."""
    _, said = started(tmp_path, backend, b"#!/bin/sh\nkill -KILL $$\n")
    assert said is None


def test_only_a_program_of_another_machine_is_foreign() -> None:
    """This Python is not, text is not, a header for another machine is."""
    own = Path(sys.executable).read_bytes()[:20]
    assert not unstarted.is_foreign(own)
    assert not unstarted.is_foreign(b"echo hello\n")
    assert unstarted.is_foreign(own[:18] + b"\xff\xff")
