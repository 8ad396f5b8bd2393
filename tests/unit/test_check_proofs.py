"""`fairtrial check`: what it proves of a package, and each way in which a package fails it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairtrial.authoring.check import Proof, check_task
from fairtrial.authoring.new_task import layout
from fairtrial.authoring.package import write
from fairtrial.cli import check as verb
from fairtrial.contracts.errors import UserError
from fairtrial.plan import tasks

from tests.lab import VERIFIER, make_task

HEAD = "import json, os, sys\nsettings = json.load(open(os.environ['FAIRTRIAL_VERIFY']))\n"
REPORT = "json.dumps({'nonce': settings['nonce'], 'checks': [{'name': NAME, 'passed': True, 'detail': ''}]})"


def prove(folder: Path) -> Proof:
    """Check one package."""
    return check_task(tasks.read(f"tiny/{folder.name}", folder))


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A package that is proven as it stands."""
    return make_task(tmp_path / "tiny", "one")


def test_a_sound_package_is_proven(task: Path) -> None:
    """The start is red, the reference green, each wrong solution caught by name."""
    proof = prove(task)
    assert proof.problems == []
    assert proof.caught == {
        "acceptance": ["untouched", "wrong/empty"],
        "answer": ["untouched", "wrong/empty", "wrong/off-by-one"],
    }


def test_a_planted_leak_fails(task: Path) -> None:
    """Three lines of the solution in a file of the workspace are found and the place is named."""
    lines = "the first line\nthe second line\nthe third line\n"
    (task / "solution" / "more.txt").write_text(lines)
    (task / "workspace" / "old.txt").write_text(f"x\n{lines}y\n")
    assert "leak: old.txt holds lines of the solution: 'the first line' ..." in prove(task).problems


def test_a_leak_in_the_object_database_fails(task: Path) -> None:
    """An answer in a commit that was undone is found."""
    (task / "solution" / "more.txt").write_text("the first line\nthe second line\nthe third line\n")
    script = "cd /task\ngit init -q -b main\ngit commit -q --allow-empty -m start\n"
    script += "printf 'the first line\\nthe second line\\nthe third line\\n' | git hash-object -w --stdin\n"
    (task / "workspace.sh").write_text(script)
    found = [line for line in prove(task).problems if line.startswith("leak")]
    assert any(line.startswith("leak: git object") for line in found), found
    assert any("unreachable blob" in line for line in found), found


HIDING = """\
git init -q -b main work
cd work
git commit -q --allow-empty -m base
git tag base
printf 'the first line\\nthe second line\\nthe third line\\n' > old.txt
git add old.txt
git commit -q -m fix
git update-ref refs/pull/77/head HEAD
git notes add -m 'the first line' base
echo more >> old.txt
git stash -q
git reset -q --hard base
git gc -q
cd ..
"""


@pytest.mark.parametrize("place", ["nested", "bare"])
def test_every_usual_hiding_place_of_an_answer_is_looked_into(task: Path, place: str) -> None:
    """O24: reflog, stash, notes, a pull request's ref and the pack, also of a repository inside or a bare one."""
    (task / "solution" / "more.txt").write_text("the first line\nthe second line\nthe third line\n")
    bare = "git clone -q --mirror work kept.git\nrm -rf work\n" if place == "bare" else ""
    (task / "workspace.sh").write_text(f"cd /task\n{HIDING}{bare}")
    found = [line for line in prove(task).problems if line.startswith("leak")]
    assert any("holds lines of the solution" in line and "git object" in line for line in found), found
    assert {f"leak: ref refs/{name}" for name in ("stash", "notes/commits", "pull/77/head")} <= set(found)


def test_a_decorative_check_fails(task: Path) -> None:
    """A check that neither the start nor any wrong solution fails proves nothing."""
    toml, program = task / "task.toml", task / "verifier" / "verify.py"
    toml.write_text(toml.read_text() + 'pretty = "minefield"\n')
    always = '@v.check("pretty")\ndef pretty() -> None:\n    v.text("notes.txt")\n\n\nv.finish()'
    program.write_text(program.read_text().replace("v.finish()", always))
    want = "check 'pretty' is decorative: neither the start nor any wrong solution fails it"
    assert prove(task).problems == [want]


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("print('fine')\n", "the report is not one whole JSON document"),
        (f"{HEAD}report = {REPORT}\nprint(report)\nprint(report)\n", "the verifier reported more than one document"),
        (f"{HEAD}print({REPORT.replace('NAME', repr('other'))})\n", "unknown check 'other'; declared: answer"),
        ("", "the verifier reported nothing (exit status 0)"),
        (VERIFIER.replace("v.finish()", ""), "(exit status 0): the verifier ended without v.finish(), which runs"),
        (VERIFIER.replace("v = ", "v = nosuch + "), "NameError: name 'nosuch' is not defined"),
    ],
)
def test_a_verifier_that_does_not_report_is_said_once(task: Path, program: str, reason: str) -> None:
    """No JSON, JSON twice, unknown checks, no finish(), a crash: one problem, and no check is called decorative."""
    (task / "verifier" / "verify.py").write_text(program.replace("NAME", repr("answer")))
    [problem] = prove(task).problems
    assert problem.startswith("verifier: "), problem
    assert reason in problem, problem
    assert problem.endswith("; nothing else can be proven before it reports"), problem


def test_a_verifier_that_breaks_on_wrong_solutions_only_is_said_once(task: Path) -> None:
    """Without a reference to compare with there is no verdict on them, and nothing is said of decoration."""
    body = 'def answer() -> None:\n    if (v.workspace / "answer.txt").exists():\n        raise KeyError("x")'
    program = VERIFIER.replace("def answer() -> None:", body)
    (task / "verifier" / "verify.py").write_text(program)
    (task / "solution" / "answer.txt").unlink()
    (task / "solution").rmdir()
    problems = prove(task).problems
    assert [line for line in problems if "KeyError" in line] == [
        "wrong/empty, wrong/off-by-one: verdict is verifier_error (the verifier broke in check 'answer': "
        "KeyError: 'x'), which proves nothing"
    ]
    assert not any("decorative" in line for line in problems)


def test_a_start_that_is_green_fails(task: Path) -> None:
    """A task that is done already measures nothing."""
    (task / "workspace" / "answer.txt").write_text("42\n")
    assert "untouched: verdict is passed; the start must be red" in prove(task).problems


def test_wrong_solutions_are_held_to_their_word(task: Path) -> None:
    """One that is green, one caught by another check than expected, one that expects nothing."""
    (task / "wrong/empty/answer.txt").write_text("42\n")
    (task / "wrong/off-by-one/expect.toml").write_text('fails = ["acceptance"]\n')
    problems = prove(task).problems
    assert "wrong/empty: is green; acceptance, answer must catch it" in problems
    assert "wrong/off-by-one: check 'acceptance' must fail and passes" in problems
    (task / "wrong/empty/expect.toml").write_text('passes = ["answer"]\n')
    assert any("wrong/empty/expect.toml: needs fails = [...]" in line for line in prove(task).problems)


def test_a_new_task_fails_for_the_right_reasons(tmp_path: Path) -> None:
    """The layout of new-task lints and its start is red; what is missing is a reference and wrong solutions."""
    folder = write(layout("first"), tmp_path / "tiny")
    assert prove(folder).problems == [
        "reference with git: does not exist",
        "check 'old-behaviour' is decorative: neither the start nor any wrong solution fails it",
        "wrong/: needs at least two known-wrong solutions: wrong/NAME/ holds the files as a bad attempt leaves them "
        'and expect.toml with fails = ["check", ...]',
    ]


def test_an_imported_task_is_told_that_only_wrong_solutions_are_missing(task: Path) -> None:
    """Others' tasks bring none: what can be proven is, and the one thing to write is named."""
    for folder in (task / "wrong").iterdir():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    [problem] = prove(task).problems
    assert problem.endswith("; all else is proven: the start is red, the reference green")


def test_a_missing_toolchain_is_skipped_with_a_reason(
    task: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a program the task requires nothing is claimed; where nothing may be skipped that is a failure."""
    toml = task / "task.toml"
    toml.write_text(toml.read_text().replace("[verifier", 'requires = ["no-such-compiler"]\n[verifier', 1))
    assert prove(task).absent == ["no-such-compiler"]
    from argparse import Namespace

    asked = Namespace(tasks=["tiny"], tasks_dir=[task.parent.parent], jobs=1)
    for no_skip, code in (("", 0), ("1", 1)):
        monkeypatch.setenv("FAIRTRIAL_NO_SKIP", no_skip)
        assert verb.run(asked) == code
        said = capsys.readouterr().out
        assert "skipped  tiny/one\n         no-such-compiler is not installed\n0 of 1 tasks proven, 1 skipped" in said


def test_an_empty_prompt_is_refused_wherever_the_package_is_read(task: Path) -> None:
    """A plan would submit it and pay for it."""
    (task / "prompt.md").write_text(" \n")
    with pytest.raises(
        UserError, match=r"task\.toml: prompt\.md beside it is empty; it holds the exact text submitted"
    ):
        prove(task)


def test_entries_that_nobody_reads_are_named(task: Path) -> None:
    """A misspelt folder would be left out without a word; hidden entries are nobody's business."""
    (task / "solutoin").mkdir()
    (task / ".notes").mkdir()
    (task / "README.md").unlink()
    entry, readme = prove(task).problems
    assert entry.startswith("solutoin: no part of a task package (did you mean 'solution'?); known: task.toml, ")
    assert readme == "README.md is missing; it says what the task shows, and what typical bad attempts look like"


def test_a_protected_path_is_something_in_the_workspace(task: Path) -> None:
    """Otherwise nothing is protected; what workspace.sh makes counts too."""
    toml = task / "task.toml"
    toml.write_text(
        toml.read_text().replace("[verifier", 'protected = ["note.txt", "made", "notes.txt"]\n[verifier', 1)
    )
    (task / "workspace.sh").write_text("mkdir /task/made\n")
    assert prove(task).problems == [
        "task.toml: protected: 'note.txt' is nothing in the workspace (did you mean 'notes.txt'?)"
    ]


def test_a_missing_acceptance_folder_is_named(task: Path) -> None:
    """The green command that needs it could never pass: that is said, and not what follows from it."""
    toml = task / "task.toml"
    toml.write_text(toml.read_text().replace("test -s answer.txt", "sh acceptance/look.sh"))
    assert prove(task).problems == [
        "acceptance/ is missing; task.toml's check = 'sh acceptance/look.sh' needs it, so nothing can be green"
    ]


def test_expectations_name_checks_that_there_are(task: Path) -> None:
    """A misspelt check, and `acceptance` where task.toml has no green command, are told as what they are."""
    toml = task / "task.toml"
    toml.write_text(toml.read_text().replace('check = "test -s answer.txt"\n', ""))
    (task / "wrong/empty/expect.toml").write_text('fails = ["answr", "answer"]\n')
    assert prove(task).problems == [
        "wrong/empty/expect.toml: there is no check 'answr' (did you mean 'answer'?); checks: answer",
        "wrong/off-by-one/expect.toml: there is no check 'acceptance': task.toml has no check = \"...\", the visible "
        "green command",
    ]


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (None, " is missing; it must hold fails = ["),
        ("fails = \n", ": not valid TOML: Invalid value"),
        ('fails = "answer"\n', ": fails: must be a list of names of checks; it must hold"),
    ],
)
def test_an_expectation_that_cannot_be_read_is_one_line(task: Path, text: str | None, want: str) -> None:
    """It names the file once, and everything else is proven all the same."""
    path = task / "wrong/empty/expect.toml"
    path.unlink() if text is None else path.write_text(text)
    [problem] = prove(task).problems
    assert problem.startswith(f"wrong/empty/expect.toml{want}"), problem
