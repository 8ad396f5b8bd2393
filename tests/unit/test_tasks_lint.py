"""Task packages: lint errors name file, key and what is allowed; selecting; suites outside the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairtrial.contracts.errors import UserError
from fairtrial.plan import tasks

from tests.lab import make_task

BROKEN = {
    'id = "one"': ('id = "two"', "id: 'two' is not the folder's name 'one'; make them the same"),
    'title = "Write the answer"': ("", "(top level): 'title' is missing"),
    'language = "text"': ("language = 3", "language: 3 is not of type string"),
    'tags = ["tiny"]': ('tag = ["tiny"]', "(top level): unknown key 'tag' (did you mean 'tags'?); known keys: check,"),
    "wall_seconds = 20": ("wall_seconds = 0", "wall_seconds: 0 is not allowed; must be more than 0"),
    'check = "test -s answer.txt"': ('protected = ["../x"]', "protected: '../x' must be a path inside the workspace"),
    'answer = "milestone"': (
        'answer = "stone"',
        "verifier.checks.answer: 'stone' is not one of 'milestone', 'minefield'",
    ),
    "[verifier.checks]\nanswer": (
        '[verifier]\ncommand = ["look.sh"]\n[verifier.checks]\nanswer',
        "verifier.command: verifier/look.sh does not exist",
    ),
    '[verifier.checks]\nanswer = "milestone"': ("[verifier]\nseconds = 5", "verifier.checks: is missing; it names"),
    "tags =": ('difficulty = "awful"\ntags =', "difficulty: 'awful' is not one of 'easy', 'medium', 'hard'"),
    "wall_seconds =": ("wall_seconds = = ", "not valid TOML: "),
}


@pytest.mark.parametrize("old", BROKEN)
def test_a_lint_error_names_file_key_and_what_is_allowed(tmp_path: Path, old: str) -> None:
    """Each mistake in task.toml gives one line that starts with the file and says the key and the allowed."""
    folder = make_task(tmp_path / "suite", "one")
    toml = folder / "task.toml"
    new, message = BROKEN[old]
    assert old in toml.read_text()
    toml.write_text(toml.read_text().replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        tasks.read("suite/one", folder)
    assert f"{toml}: {message}" in str(caught.value)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("prompt.md", "prompt.md is missing beside it; it holds the exact text submitted"),
        ("workspace/notes.txt", "workspace/ or workspace.sh is missing beside it"),
        ("verifier/verify.py", "verifier.command: verifier/verify.py does not exist"),
    ],
)
def test_a_missing_file_is_named(tmp_path: Path, missing: str, message: str) -> None:
    """A package without one of its files says which and what it is for."""
    folder = make_task(tmp_path / "suite", "one")
    (folder / missing).unlink()
    if "/" in missing:
        (folder / missing).parent.rmdir()
    with pytest.raises(UserError) as caught:
        tasks.read("suite/one", folder)
    assert message in str(caught.value)


def test_a_verifier_that_is_not_executable_is_named(tmp_path: Path) -> None:
    """A program that fairtrial does not start with its own Python must be executable."""
    folder = make_task(tmp_path / "suite", "one")
    (folder / "verifier" / "look.sh").write_text("#!/bin/sh\n")
    toml = folder / "task.toml"
    toml.write_text(
        toml.read_text().replace("[verifier.checks]", '[verifier]\ncommand = ["look.sh"]\n[verifier.checks]')
    )
    with pytest.raises(UserError, match=r"verifier/look.sh is not executable; chmod \+x it"):
        tasks.read("suite/one", folder)


@pytest.fixture
def suites(tmp_path: Path) -> dict[str, Path]:
    """Two folders of suites; the id `one` is in two suites."""
    for name in ("here/tiny/one", "here/tiny/two", "there/other/one"):
        folder, suite, task = name.split("/")
        made = make_task(tmp_path / folder / suite, task)
        if task == "two":
            toml = made / "task.toml"
            toml.write_text(toml.read_text().replace('["tiny"]', '["tiny", "second"]'))
    return tasks.discover([tmp_path / "here", tmp_path / "there"])


@pytest.mark.parametrize(
    ("patterns", "want"),
    [
        (["one"], ["tiny/one", "other/one"]),
        (["other/one"], ["other/one"]),
        (["tiny"], ["tiny/one", "tiny/two"]),
        (["tag:second"], ["tiny/two"]),
        (["t*"], ["tiny/one", "tiny/two"]),
        (["*/o?e", "two"], ["tiny/one", "tiny/two", "other/one"]),
        (["two", "tiny/two", "tag:second"], ["tiny/two"]),
    ],
)
def test_selecting(suites: dict[str, Path], patterns: list[str], want: list[str]) -> None:
    """Ids, suite/id, suites, tags and globs; each task once, in the order found."""
    assert [task.name for task in tasks.select(patterns, suites)] == want


@pytest.mark.parametrize("pattern", ["three", "tinny/three", "x*"])
def test_a_pattern_that_matches_nothing_names_what_there_is(suites: dict[str, Path], pattern: str) -> None:
    """The error lists suites, tasks and the other ways to select."""
    with pytest.raises(UserError) as caught:
        tasks.select([pattern], suites)
    assert str(caught.value).startswith(f"tasks: {pattern!r} matches no task")
    assert str(caught.value).endswith("; suites: other, tiny; tasks: one, one, two; also tag:x and globs")


def test_a_tag_that_no_task_has_names_the_tags(suites: dict[str, Path]) -> None:
    """Tags only, with the nearest one first."""
    with pytest.raises(
        UserError, match=r"^tasks: 'tag:secnd' matches no task \(did you mean 'tag:second'\?\); tags: tag"
    ):
        tasks.select(["tag:secnd"], suites)


def test_of_many_tasks_a_dozen_are_named() -> None:
    """A typo is answered with the nearest name, twelve others and the command that lists them all."""
    found = tasks.discover([Path(__file__).resolve().parents[2] / "tasks"])
    with pytest.raises(UserError) as caught:
        tasks.select(["tally-gruop"], found)
    said = str(caught.value)
    assert "(did you mean 'tally-group'?)" in said
    assert f" and {len(found) - 12} more; `fairtrial list tasks`; also tag:x and globs" in said
    assert len(said) < 450


def test_equal_ids_in_two_suites_do_not_collide(suites: dict[str, Path], tmp_path: Path) -> None:
    """Both are found, each with the files of its own suite."""
    found = {task.name: task.folder for task in tasks.select(["one"], suites)}
    assert found == {"tiny/one": tmp_path / "here/tiny/one", "other/one": tmp_path / "there/other/one"}


def test_one_suite_in_two_folders_is_refused(tmp_path: Path) -> None:
    """Otherwise the same name would mean two tasks."""
    for folder in ("here", "there"):
        make_task(tmp_path / folder / "tiny", "one")
    with pytest.raises(UserError, match=r"suite 'tiny' is in .*here/tiny and in .*there/tiny; rename one"):
        tasks.discover([tmp_path / "here", tmp_path / "there"])


def test_a_folder_of_suites_that_is_not_there_is_named(tmp_path: Path) -> None:
    """The message says what such a folder holds."""
    with pytest.raises(UserError, match=r"none is not a folder; it should hold <suite>/<task>/task.toml"):
        tasks.discover([tmp_path / "none"])
