"""Every way out of the box that was ever found, tried from inside, as this user and as an ordinary one."""

from __future__ import annotations

import sys

import pytest
from fairtrial.instruments.sandbox import backends

from tests import box_rig as rig

OUTER = {
    "CLAUDECODE": "1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "CODEX_SANDBOX": "seatbelt", "GIT_DIR": "/outer",
    "PYTHONSTARTUP": "/outer", "NODE_OPTIONS": "--inspect", "VIRTUAL_ENV": "/outer", "PYTEST_ADDOPTS": "--lf",
    "A_NEW_ONE": "1", "LD_LIBRARY_PATH": "/outer",
}  # fmt: skip
CASES = [(number, who) for number in range(len(backends.candidates())) for who in ("this user", "ordinary user")]
if sys.platform != "linux":
    CASES = []


@pytest.fixture(scope="module", params=CASES, ids=[f"bwrap{n}-{who.replace(' ', '-')}" for n, who in CASES])
def said(request):
    """What leaks.py saw in a box of this bwrap and this user, and the report."""
    number, who = request.param
    return rig.drive("drive.py", str(number), as_ordinary=who == "ordinary user", environment=OUTER)


@pytest.fixture
def seen(said):
    """What leaks.py saw."""
    return said["seen"]


def test_environment_is_an_allow_list(seen):
    """Nothing of the runner's environment arrives, whatever its name."""
    assert not set(OUTER) & set(seen["environment"])
    assert set(seen["environment"]) - {"PWD", "LC_CTYPE"} == {
        "HOME", "USER", "LOGNAME", "LANG", "TERM", "TMPDIR", "SHELL", "NO_COLOR", "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_GLOBAL", "PYTHONDONTWRITEBYTECODE", "PATH", "HARNESS_OWN",
    }  # fmt: skip


def test_pid_1_shows_nothing_of_the_runner(said, seen):
    """/proc/1/environ is empty and /proc/1/cmdline has no path of this machine."""
    assert seen["pid1_environment"] == ""
    assert seen["pid1_command"][:2] == ["bwrap", "--args"]
    before = seen["pid1_command"][: seen["pid1_command"].index("--")]
    assert not [word for word in before if "/" in word]


def test_stdout_cannot_be_opened_again(seen):
    """The agent's output stream cannot be forged through /proc/PID/fd."""
    assert all(seen["reopen_stdout"])


def test_calls_that_read_or_steer_other_processes_are_refused(seen):
    """Each call of the filter gives EPERM, ptrace of pid 1 too."""
    assert set(seen["calls"].values()) == {"EPERM"}
    assert len(seen["calls"]) == 11
    assert seen["ptrace"] == "EPERM"


def test_no_process_writes_into_anothers_memory(seen):
    """/proc/PID/mem would do what ptrace may not: /proc is read-only as a whole."""
    assert seen["memory"] == ["EROFS"] * 3


def test_etc_is_synthetic(seen):
    """No password hashes, no settings of this machine and no managed settings of an agent program."""
    allowed = {"alternatives", "group", "hosts", "ld.so.cache", "passwd", "resolv.conf"}
    assert set(seen["etc"]) <= allowed
    assert seen["shadow"] == "ENOENT"


def test_no_process_of_the_machine_is_seen(seen):
    """The box has a process namespace of its own, and the agent is not the first user there."""
    assert seen["processes"] == []
    assert seen["uid"] == [1000, 1000]


def test_nothing_can_be_planted_outside_workspace_home_and_tmp(seen):
    """Root, /run with the links to python, /dev and /usr are read-only; the four places for work are not."""
    assert set(seen["plant"].values()) == {"EROFS"}
    assert seen["writable"] == [None, None, None, None]


def test_the_kernel_cannot_be_set(seen):
    """Not one file below /proc/sys can be written, even where the runner is root (core_pattern is a way out)."""
    assert seen["kernel"] == []


def test_acceptance_is_read_only_by_mount(seen):
    """No shell command changes the acceptance folder, and each says why."""
    answers = list(seen["acceptance"].values())
    assert answers[:4] == ["Read-only file system"] * 4
    assert answers[4] == "Device or resource busy"
    assert answers[5] in ("Read-only file system", "Device or resource busy")
    assert seen["acceptance_text"] == "acceptance\n"


def test_hidden_paths_are_absent(seen):
    """Verifier, other attempts, the home folder and this package do not exist inside."""
    assert set(seen["hidden"].values()) == {"ENOENT"}


def test_only_the_endpoint_is_reached(seen):
    """No address, no name server, no listener of the machine and no abstract socket; the endpoint's port answers."""
    assert all(seen["network"].values())
    assert seen["endpoint"] is None


def test_sizes_and_counts_are_limited(seen):
    """File systems in memory, file sizes, core dumps and the number of processes have the limits of the box."""
    assert seen["sizes"] == {"/tmp": 64 << 20, "/dev/shm": 64 << 20, "/run": 64 << 20}
    assert (seen["file_bytes"], seen["core"]) == (32 << 20, 0)
    assert 10 < seen["children"] <= 40


def test_no_namespace_inside(seen):
    """The agent cannot make a user namespace, in which it would be root again."""
    assert seen["user_namespace"] is not None


def test_no_terminal(seen):
    """There is no terminal to push keystrokes into."""
    assert seen["terminal"] is not None


def test_stdin_is_the_prompt_and_its_end(seen):
    """The agent reads exactly the given bytes, then the end (O09)."""
    assert seen["stdin"] == "the prompt"


def test_python_is_there(said, seen):
    """`python3` and `python` start an interpreter, found in fairtrial's own folder."""
    assert seen["python"][0].startswith("(3, ")
    assert seen["python"][1] == "/run/ft/bin/python3"


def test_the_record_says_so(said):
    """All canaries are true, nothing is degraded, and the record names the back end."""
    record = said["report"]["isolation"]
    assert said["stderr"] == ""
    assert record["degraded"] == []
    assert set(record["canaries"].values()) == {True}
    assert (record["backend"], record["netns"], record["seccomp"]) == ("bwrap", "endpoint", True)


def test_no_trace_of_the_canaries(said):
    """The visit leaves no file behind."""
    assert said["workspace"] == ["acceptance", "new.txt"]
