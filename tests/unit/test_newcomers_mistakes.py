"""What somebody new types wrong: options in part, Snakemake's own, values in the wrong shape; each is told right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fairtrial.__main__ import main
from fairtrial.contracts.errors import Fault, UserError
from fairtrial.contracts.schema import problems
from fairtrial.harnesses.command.launch import probe_version
from fairtrial.upkeep import show

CELL = {"suite": "s", "task": "t", "harness": "h", "model": "m", "recipe": "a" * 12}
FITS = {"name": "x", "tasks": ["a"], "harnesses": ["b"], "models": ["c"], "repetitions": 1}


def sealed(results: Path, repetition: int) -> Path:
    """An attempt as far as `fairtrial recipes` reads one."""
    folder = results.joinpath("attempts", *CELL.values(), f"r{repetition}")
    folder.mkdir(parents=True)
    evidence = {"recipe": {"toolset": {"name": "git"}, "adoption": "warm"}, "started_at": "2026-01-01T00:00:00Z"}
    (folder / "evidence.json").write_text(json.dumps(evidence))
    return folder


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan", "--config", "repetitions=2"], "unrecognized arguments: --config repetitions=2 (did you mean"),
        (["plan", "mine.yaml"], "(did you mean '--configfile mine.yaml'?)"),
        (["report", "--nme=x"], "--nme=x (did you mean '--name'?)"),
        (["export", "junit", "--manifes", "x"], "--manifes x (did you mean '--manifest'?)"),
        (["import", "tasks", "harbor", "x", "--int", "y", "--into", "z"], "unrecognized arguments: --int y"),
    ],
)
def test_an_option_in_part_is_no_option(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is not taken for the longer one that it begins; the line names that one."""
    with pytest.raises(SystemExit) as end:
        main(arguments)
    out, err = capsys.readouterr()
    assert (end.value.code, out, err.count("\n")) == (2, "", 1) and words in err, err


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("repetitions", "5", "repetitions: '5' is not of type integer; write 5 without quotes"),
        ("repetitions", "two", "repetitions: 'two' is not of type integer"),
        ("tasks", "a", "tasks: 'a' is not of type array; a list is written [a]"),
        ("tasks", "[a", "tasks: '[a' is not of type array; [a lacks its last bracket"),
        ("tasks", None, "tasks: None is not of type array; give a value, or leave the key out"),
        ("tasks", [], "tasks: must not be empty"),
        ("harnesses", ["b", "b"], "harnesses: ['b', 'b'] has non-unique elements; name each once"),
        ("spend", {"allow": "true"}, "spend.allow: 'true' is not of type boolean; write true without quotes"),
        ("spend", {"max_usd": "1.5"}, "spend.max_usd: '1.5' is not of type number or null; write 1.5 without quotes"),
        ("spend", {"max_usd": "true"}, "spend.max_usd: 'true' is not of type number or null"),
    ],
)
def test_a_value_in_the_wrong_shape_is_told_the_right_one(key: str, value: object, words: str) -> None:
    """Where it is plain to see; otherwise the line ends with what is wrong."""
    assert problems({**FITS, key: value}, "config") == [words]


def test_a_repetition_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    """And a recipe that is not there with the verb that lists them."""
    folder = sealed(tmp_path, 1)
    with pytest.raises(UserError, match=r"of this recipe there are r1$"):
        show.locate(str(folder.with_name("r7")), tmp_path)
    with pytest.raises(UserError, match="`fairtrial recipes` lists what there is"):
        show.locate("s/t/h/m/" + "b" * 12 + "/r1", tmp_path)


def test_recipes_of_an_experiment_are_its_own_repetitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Attempts are shared by experiments: the manifest of one that plans two of three holds two."""
    folders = [sealed(tmp_path, repetition) for repetition in (1, 2, 3)]
    matrix = {"name": "small", "cells": [CELL | {"repetitions": 2}], "digest": "d", "k": [1], "skipped": []}
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "matrix.json").write_text(json.dumps(matrix))
    manifest = tmp_path / "small.json"
    assert main(["recipes", "--results", str(tmp_path), "--name", "small", "--write", str(manifest)]) == 0
    assert f"{manifest}: 2 attempts" in capsys.readouterr().out
    named = json.loads(manifest.read_text())["attempts"]
    assert named == [folder.relative_to(tmp_path).as_posix() for folder in folders[:2]]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{adapter: comand}", "mine: adapter: unknown adapter 'comand' (did you mean 'command'?); known: aider"),
        ("{}", "mine: no adapter is named (`adapter: command` starts any program): unknown adapter 'mine'"),
        (
            "{adapter: claude, options: {files: {.claude/x: y}}}",
            "options.files: '.claude/x' is not allowed; a file is placed at home/PATH (the agent's HOME)",
        ),
        (
            "{adapter: claude, options: {files: {home/../x: y}}}",
            "(the agent's HOME) or workspace/PATH, without `..`",
        ),
    ],
)
def test_an_entry_of_a_harness_is_told_what_it_lacks(
    entry: str, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In words of the documentation, not as a pattern."""
    monkeypatch.chdir(tmp_path)
    Path("harnesses.yaml").write_text(f"mine: {entry}\n")
    Path("mine.yaml").write_text("{harnesses: [mine], harnesses_file: harnesses.yaml}\n")
    assert main(["plan", "--configfile", "mine.yaml"]) == 2
    assert words in capsys.readouterr().err


def test_a_program_named_by_a_path_is_looked_for_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PATH has nothing to do with it; the folder it is looked for from is named."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Fault, match=rf"\./nope is not there; looked for from {tmp_path}"):
        probe_version({"template": "./nope {prompt}"})
    with pytest.raises(Fault, match=r"/nowhere/nope is not there$"):
        probe_version({"template": "/nowhere/nope {prompt}"})


def test_an_inner_command_is_not_shown_as_running() -> None:
    """Of a command within a traced one only the start is recorded: `inner`; of a killed one `end not seen`."""
    ends = [(0, 5, None), (0, 5, 9), (0, None, None), (1, None, None)]
    rows = [{"depth": depth, "ended_ns": ended, "signal": signal, "exit_status": 0} for depth, ended, signal in ends]
    assert [show._status(row) for row in rows] == ["0", "-9", "end not seen", "inner"]
