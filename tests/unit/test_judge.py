"""The judge on small tasks: verdicts, verifier errors, suspects, and what a verifier is given."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fairtrial.contracts.errors import Fault
from fairtrial.grading.judge import Judgement, judge
from fairtrial.grading.judge_box import no_network

CHECKS_HEAD = "from fairtrial.verify import Failed, Verification\nv = Verification()\n"
ANSWER = CHECKS_HEAD + ("@v.check('answer')\ndef answer():\n    v.equal(v.text('answer.txt'), '42\\n')\nv.finish()\n")
O26 = {
    "v1": ("echo 'no tests ran'; exit 5", "verifier_error"),
    "v2": ("echo '0 passed'; exit 0", "verifier_error"),
    "v3": ("exec /no/such/checker", "verifier_error"),
    "v4": ("sleep 3600", "verifier_error"),
    "v5": ("kill -9 $$", "verifier_error"),
    "v6": ('printf \'{"passed": tr\' > "${VERDICT_FILE:-verdict.json}"; exit 0', "verifier_error"),
    "v7": ('echo \'{"passed": true}\' > "${VERDICT_FILE:-verdict.json}"; exit 1', "verifier_error"),
    "v8": ("printf '\\033[32mPASSED\\033[0m t.py::a\\nSystem check text PASSED? \\n'; exit 0", "passed"),
}


def write(folder: Path, files: Mapping[str, str], mode: int = 0o644) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
    return folder


def build(tmp_path: Path, verifier: str, *, name: str = "verify.py", solution: str | None = "42\n") -> Path:
    """A task whose right answer is 42 in answer.txt."""
    task = tmp_path / "frozen"
    write(task / "workspace", {"answer.txt": "?\n"})
    write(task / "verifier", {name: verifier}, 0o755)
    if solution is not None:
        write(task / "solution", {"answer.txt": solution})
    return task


def gradespec(**other: Any) -> dict[str, Any]:
    keys = {"command", "format", "seconds", "checks"} & set(other)
    settings: dict[str, Any] = {"command": ["verify.py"], "format": "checks", "seconds": 20}
    settings |= {"checks": {"answer": "milestone"}, **{key: other.pop(key) for key in keys}}
    return {
        "check": None, "check_seconds": 10, "protected": [], "verifier_settings": settings, "toolset": "git", **other,
    }  # fmt: skip


def verdict(tmp_path: Path, task: Path, answer: str = "42\n", **spec: Any) -> Judgement:
    tree = write(tmp_path / "tree", {"answer.txt": answer})
    return judge(gradespec(**spec), task, tree, tmp_path / "scratch")


def test_a_right_workspace_passes_and_a_wrong_one_fails_by_name(tmp_path: Path) -> None:
    """Verdict passed iff every named check passes."""
    task = build(tmp_path, ANSWER)
    right = verdict(tmp_path, task)
    assert (right.verdict, right.error, right.suspect) == ("passed", None, False)
    assert right.checks == [{"name": "answer", "kind": "milestone", "passed": True, "detail": ""}]
    wrong = verdict(tmp_path, task, "41\n")
    assert wrong.verdict == "failed"
    assert "'41\\n'" in wrong.checks[0]["detail"]


@pytest.mark.parametrize("case", O26)
def test_a_verifier_that_checked_nothing_is_neither_pass_nor_fail(tmp_path: Path, case: str) -> None:
    """Case O26, the scripts as they are: only the coloured one passes."""
    script, want = O26[case]
    task = build(tmp_path, f"#!/bin/sh\n{script}\n", name="check.sh")
    found = verdict(tmp_path, task, command=["check.sh"], format="exit", seconds=1, checks={"verify": "milestone"})
    assert (found.verdict, found.error is None) == (want, want == "passed"), found.error


def test_a_verifier_that_is_not_executable_gives_no_verdict(tmp_path: Path) -> None:
    """Case O26 v9, where linting was bypassed."""
    task = build(tmp_path, "#!/bin/sh\nexit 0\n", name="check.sh")
    (task / "verifier" / "check.sh").chmod(0o644)
    found = verdict(tmp_path, task, command=["check.sh"], format="exit", checks={"verify": "milestone"})
    assert (found.verdict, "not executable" in str(found.error)) == ("verifier_error", True)


@pytest.mark.parametrize(
    ("verifier", "reason"),
    [
        ("import os\nos.kill(os.getpid(), 9)\n", "killed by signal 9"),
        ("raise SystemExit(0)\n", "reported nothing (exit status 0)"),
        ("import time\ntime.sleep(60)\n", "within its time limit"),
        (ANSWER + "import sys\nsys.exit(1)\n", "contradicts itself"),
        (ANSWER.replace("'answer'", "'other'"), "unknown check 'other'"),
        (CHECKS_HEAD + "v.finish()\n", "no word about answer"),
        (CHECKS_HEAD + "@v.check('answer')\ndef f():\n    {}['x']\nv.finish()\n", "broke in check 'answer': KeyError"),
        ('print(\'{"checks": [{"name": "answer", "passed": true}]}\')\n', "does not carry this run's nonce"),
        ("import verifier_needs_this\n", "No module named"),
    ],
)
def test_a_broken_verifier_is_told_apart(tmp_path: Path, verifier: str, reason: str) -> None:
    """A verifier that fails on the reference as well gives verifier_error with its reason, not a failed attempt."""
    found = verdict(tmp_path, build(tmp_path, verifier), "41\n", seconds=1.5)
    assert (found.verdict, found.suspect, found.checks) == ("verifier_error", False, [])
    assert reason in str(found.error)


BREAKS_ON_CRASH = ANSWER.replace("    v.equal", "    assert v.text('answer.txt') != 'crash\\n' or {}['x']\n    v.equal")


def test_a_verifier_that_only_breaks_on_this_workspace_is_a_suspect(tmp_path: Path) -> None:
    """It works on the reference and keeps failing here: failed, flagged, and every check it did not reach is named."""
    task = build(tmp_path, BREAKS_ON_CRASH)
    found = verdict(tmp_path, task, "crash\n")
    assert (found.verdict, found.suspect) == ("failed", True)
    assert "works on the reference" in found.checks[0]["detail"]


def test_a_verifier_error_without_a_reference_stays_one(tmp_path: Path) -> None:
    """Without a solution to try there is no telling whose fault it is."""
    task = build(tmp_path, "raise SystemExit(2)\n", solution=None)
    assert verdict(tmp_path, task).verdict == "verifier_error"


def test_one_failure_of_a_busy_machine_is_tried_again(tmp_path: Path) -> None:
    """A verifier that fails once and then works gives its verdict, no error and no suspicion."""
    once = (
        "import pathlib, sys\nmark = pathlib.Path({mark!r})\nif not mark.exists():\n    mark.touch()\n    sys.exit(1)\n"
    )
    task = build(tmp_path, once.format(mark=str(tmp_path / "mark")) + ANSWER)
    found = verdict(tmp_path, task)
    assert (found.verdict, found.suspect) == ("passed", False)


def test_a_solution_script_builds_the_reference(tmp_path: Path) -> None:
    """solve-<toolset>.sh wins over solve.sh and runs where the workspace is."""
    task = build(tmp_path, BREAKS_ON_CRASH, solution=None)
    write(task / "solution", {"solve.sh": "exit 1\n", "solve-git.sh": "echo 42 > answer.txt\n"})
    assert verdict(tmp_path, task, "crash\n").suspect
    (task / "solution" / "solve-git.sh").unlink()
    assert verdict(tmp_path, task, "crash\n").verdict == "verifier_error"


def test_a_workspace_script_builds_what_protected_files_are_restored_from(tmp_path: Path) -> None:
    """For a task with workspace.sh the untouched start is built anew."""
    task = build(tmp_path, ANSWER)
    (task / "workspace.sh").write_text("echo 42 > answer.txt\n")
    found = verdict(tmp_path, task, "changed\n", protected=["answer.txt"])
    assert (found.verdict, found.changed) == ("passed", ["answer.txt"])


def test_a_failing_workspace_script_is_a_fault(tmp_path: Path) -> None:
    """A task that cannot be built is no attempt's failure."""
    task = build(tmp_path, ANSWER)
    (task / "workspace.sh").write_text("exit 3\n")
    with pytest.raises(Fault, match=r"workspace\.sh of the task failed"):
        verdict(tmp_path, task, protected=["answer.txt"])


def test_files_of_the_task_that_change_while_grading_void_the_verdict(tmp_path: Path) -> None:
    """The task and verifier files are hashed before and after."""
    task = build(tmp_path, ANSWER.replace("v.finish()", "(v.task / 'solution' / 'x').write_text('')\nv.finish()"))
    found = verdict(tmp_path, task)
    assert (found.verdict, "changed while grading" in str(found.error)) == ("verifier_error", True)


@pytest.mark.parametrize(
    ("command", "passed", "detail"),
    [
        ("grep -qx 42 answer.txt", True, ""),
        ("echo wrong; exit 4", False, "status 4: wrong"),
        ("sleep 60", False, "did not end within 1 s"),
        ("kill -9 $$", False, "status"),
        ("echo Ran 0 tests in 0.0s", False, "no test ran"),
        ("cat acceptance/expected.txt && ! touch acceptance/new", True, ""),
        ("rm answer.txt", True, ""),
        ("env | grep -q FAIRTRIAL", False, "status 1"),
        ('test "$(echo $(ls /run/ft))" = "bin lib pyvenv.cfg"', True, ""),
    ],
)
def test_the_green_command_is_the_check_acceptance(tmp_path: Path, command: str, passed: bool, detail: str) -> None:
    """Status 0 passes; a hang, a crash or no test is a failed check; it sees acceptance read-only, and no verifier."""
    task = build(tmp_path, ANSWER)
    write(task / "acceptance", {"expected.txt": "42\n"})
    found = verdict(tmp_path, task, check=command, check_seconds=1)
    row = found.checks[0]
    assert (row["name"], row["kind"], row["passed"]) == ("acceptance", "milestone", passed), row
    assert detail in row["detail"]
    assert found.verdict == ("passed" if passed else "failed")
    assert [r["passed"] for r in found.checks[1:]] == [True]


def test_a_verifier_inherits_an_allow_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """O13 for grading: neither the outer agent's variables nor a key reach the verifier or the product."""
    for name in ("CLAUDECODE", "ANTHROPIC_API_KEY", "PYTHONPATH", "LD_PRELOAD_X"):
        monkeypatch.setenv(name, "outer")
    shown = CHECKS_HEAD + (
        "import os, sys\n@v.check('answer')\ndef answer():\n"
        "    inner = v.ok(v.run(['env'])).text\n"
        "    raise Failed(' '.join([*os.environ, *os.environ.values(), inner]))\nv.finish()\n"
    )
    detail = verdict(tmp_path, build(tmp_path, shown)).checks[0]["detail"]
    assert "outer" not in detail
    assert "FAIRTRIAL" not in detail
    assert "PATH" in detail


def test_a_verifier_has_no_network_or_the_judgement_says_so(tmp_path: Path) -> None:
    """The verifier runs outside the product's box and still reaches nothing; where that cannot be had it is said."""
    probe = CHECKS_HEAD + (
        "import socket\n@v.check('answer')\ndef answer():\n    try:\n"
        "        socket.create_connection(('127.0.0.1', PORT), 2)\n    except OSError as e:\n        return\n"
        "    raise Failed('reached')\nv.finish()\n"
    )
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        task = build(tmp_path, probe.replace("PORT", str(server.getsockname()[1])))
        found = verdict(tmp_path, task)
    told = "grading: the verifier could reach the network" in found.degraded
    assert (found.verdict == "passed", told) == (bool(no_network()), not no_network())


def test_nothing_of_a_verifier_lives_on_after_its_time(tmp_path: Path) -> None:
    """A verifier that is cut off takes its children with it, also those in sessions of their own."""
    mark = f"{os.getpid()}{time.monotonic_ns()}"
    hang = f"import subprocess\nsubprocess.Popen(['sleep', '3{mark[-5:]}'], start_new_session=True).wait()\n"
    verdict(tmp_path, build(tmp_path, hang, solution=None), seconds=0.7)
    alive = [p.parent.name for p in Path("/proc").glob("[0-9]*/cmdline") if f"3{mark[-5:]}".encode() in _read(p)]
    assert alive == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_neither_task_nor_tree_is_written_to(tmp_path: Path) -> None:
    """Judging leaves its inputs byte for byte as they were, and its scratch folder empty."""
    task = build(tmp_path, ANSWER)
    tree = write(tmp_path / "tree", {"answer.txt": "42\n", "sub/x": "1"})
    before = sorted((str(p), p.stat().st_mtime_ns) for top in (task, tree) for p in top.rglob("*"))
    judge(gradespec(check="echo 1 > sub/x; rm answer.txt", protected=["answer.txt"]), task, tree, tmp_path / "scratch")
    assert sorted((str(p), p.stat().st_mtime_ns) for top in (task, tree) for p in top.rglob("*")) == before
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_tree_with_odd_modes_and_names_is_judged(tmp_path: Path) -> None:
    """Names with newlines and quotes, a pipe and a read-only folder neither stop the judge nor stay behind."""
    task = build(tmp_path, ANSWER)
    tree = write(tmp_path / "tree", {"answer.txt": "42\n", "a\nb 'c' \"d\"/é": "x"})
    os.mkfifo(tree / "pipe")
    (tree / "shut").mkdir()
    (tree / "shut").chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert judge(gradespec(), task, tree, tmp_path / "scratch").verdict == "passed"
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_task_without_acceptance_leaves_the_agents_folder_of_that_name(tmp_path: Path) -> None:
    """An empty acceptance folder in the placed package restores nothing."""
    task = build(tmp_path, ANSWER)
    (task / "acceptance").mkdir()
    tree = write(tmp_path / "tree", {"answer.txt": "42\n", "acceptance/own.txt": "mine\n"})
    found = judge(gradespec(check="grep mine acceptance/own.txt"), task, tree, tmp_path / "scratch")
    assert (found.verdict, found.changed) == ("passed", [])


def test_a_report_in_another_language_needs_only_the_nonce(tmp_path: Path) -> None:
    """A shell verifier may print the report itself."""
    body = json.dumps({"nonce": "NONCE", "checks": [{"name": "answer", "passed": True}]})
    script = "#!/bin/sh\nprintf '%s' '" + body.replace("NONCE", "'\"$FAIRTRIAL_NONCE\"'") + "'\n"
    task = build(tmp_path, script, name="check.sh")
    assert verdict(tmp_path, task, command=["check.sh"]).verdict == "passed"
