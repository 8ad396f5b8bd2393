"""Mistakes are refused before anything runs: one clear line that names file, key, bad value and what is known."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import pytest

from tests.lab import Lab, make_task

CONFIG = {
    "unknown key": ({"repititions": 3}, ["repititions", "did you mean 'repetitions'"]),
    "unknown task": ({"tasks": ["tiny/three"]}, ["tiny/three", "one", "two"]),
    "unknown harness": ({"harnesses": ["claud"]}, ["'claud'", "reference", "noop"]),
    "unknown model": ({"models": ["gpt"]}, ["'gpt'", "none"]),
    "unknown toolset": ({"toolsets": ["svn"]}, ["'svn'", "git"]),
    "repetitions 0": ({"repetitions": 0}, ["repetitions", "0"]),
    "repetitions -1": ({"repetitions": -1}, ["repetitions", "-1"]),
    "a slug with a slash": ({"name": "a/b"}, ["name", "'a/b'", "lower-case"]),
    "a slug with dots": ({"name": ".."}, ["name", "'..'"]),
    "a reserved name": ({"name": "attempts"}, ["attempts", "reserved"]),
    "a harness twice": ({"harnesses": ["noop", "noop"]}, ["harnesses", "non-unique"]),
    "a text for a number": ({"repetitions": "three"}, ["repetitions", "integer"]),
    "an unknown isolation": ({"isolation": "docker"}, ["isolation", "'docker'", "'required'"]),
}


@pytest.mark.parametrize("case", CONFIG)
def test_a_mistake_in_the_configuration_is_one_message(lab: Lab, case: str) -> None:
    """Exit code 2, no traceback, nothing written (O18, O20)."""
    change, wanted = CONFIG[case]
    lab.config.update(change)
    lab.write()
    refused(lab, wanted)


def refused(lab: Lab, wanted: list[str]) -> None:
    """A dry run and a run both end with exit code 2 and all of `wanted` in the message."""
    done = lab.snakemake("-n")
    said = done.stdout + done.stderr
    assert done.returncode == 2, said
    assert "Traceback" not in said
    for text in wanted:
        assert text in said
    assert not lab.results.exists()


def test_a_key_given_twice_is_refused(lab: Lab) -> None:
    """YAML would silently take the last one."""
    (lab.folder / "harnesses.yaml").write_text("reference: {}\nnoop: {}\nreference: {title: again}\n")
    refused(lab, ["harnesses.yaml", "'reference' is given twice"])


HARNESSES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "unknown adapter": ({"x": {"adapter": "clade"}}, ["x", "'clade'", "claude"]),
    "unknown option": ({"stand-in": {"options": {"pass_rate": 1}}}, ["stand-in", "pass_rate", "pass_probability"]),
    "option out of range": ({"stand-in": {"options": {"pass_probability": 2}}}, ["stand-in", "pass_probability", "2"]),
    "a name with a blank": ({"my agent": {}}, ["my agent"]),
    "unknown key": ({"noop": {"vesion": "1"}}, ["vesion", "did you mean 'version'"]),
}  # fmt: skip


@pytest.mark.parametrize("case", HARNESSES)
def test_a_mistake_in_harnesses_yaml_names_the_entry(lab: Lab, case: str) -> None:
    """The file, the entry and the key."""
    change, wanted = HARNESSES[case]
    lab.harnesses.update(change)
    lab.config["harnesses"] = ["reference", *(name for name in change if name != "my agent")]
    lab.write()
    refused(lab, wanted)


TASKS = {
    "unknown key": (
        "wall_seconds = 20",
        "wall_second = 20",
        ["task.toml", "wall_second", "did you mean 'wall_seconds'"],
    ),
    "id is not the folder": ('id = "one"', 'id = "first"', ["task.toml", "'first'", "'one'"]),
    "no checks": ('[verifier.checks]\nanswer = "milestone"', "[verifier]", ["task.toml", "verifier.checks"]),
    "unknown kind of check": (
        'answer = "milestone"',
        'answer = "bonus"',
        ["task.toml", "answer", "'bonus'", "'minefield'"],
    ),
    "not TOML": ("wall_seconds = 20", "wall_seconds = = 20", ["task.toml", "not valid TOML"]),
    "a protected path outside": ('title = "', 'protected = ["../x"]\ntitle = "', ["task.toml", "protected", "'../x'"]),
}


@pytest.mark.parametrize("case", TASKS)
def test_a_mistake_in_a_task_package_names_file_and_key(lab: Lab, case: str) -> None:
    """Lint errors stop before anything runs."""
    old, new, wanted = TASKS[case]
    toml = lab.folder / "suites" / "tiny" / "one" / "task.toml"
    assert old in toml.read_text()
    toml.write_text(toml.read_text().replace(old, new))
    refused(lab, wanted)


def test_a_verifier_that_cannot_be_started_is_found_when_the_task_is_loaded(lab: Lab) -> None:
    """O26, the ninth: a program that is not executable."""
    package = lab.folder / "suites" / "tiny" / "one"
    (package / "verifier" / "verify.sh").write_text("#!/bin/sh\nexit 0\n")
    toml = package / "task.toml"
    program = '[verifier]\ncommand = ["verify.sh"]\n\n[verifier.checks]'
    toml.write_text(toml.read_text().replace("[verifier.checks]", program))
    refused(lab, ["verify.sh", "not executable", "chmod +x"])


@pytest.mark.parametrize("kind", ["a file", "a link to nowhere"])
def test_results_that_are_no_folder_are_refused(lab: Lab, kind: str) -> None:
    """One line that names the path, before anything is planned."""
    if kind == "a file":
        lab.results.write_text("mine\n")
    else:
        lab.results.symlink_to(lab.folder / "nowhere")
    done = lab.snakemake()
    assert done.returncode == 2
    assert f"{lab.results}: is no folder" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.root
def test_results_on_a_read_only_disk_are_one_line(lab: Lab) -> None:
    """Nothing is started; `try` says the same."""
    lab.results.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(lab.results)]
    if os.geteuid() != 0 or subprocess.run(mounting, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting a tmpfs needs root")
    try:
        run = lab.snakemake()
        once = lab.fairtrial("try", "tiny/one", "--tasks-dir", "suites", "--harness", "reference")
    finally:
        subprocess.run(["umount", "--lazy", str(lab.results)], check=True)
    for done, path in ((run, "results/default"), (once, "results/tries")):
        assert done.returncode != 0
        assert f"{path}: Read-only file system" in done.stderr
        assert "Traceback" not in done.stderr


def test_equal_ids_in_two_suites_do_not_collide(lab: Lab) -> None:
    """tiny/one and other/one are two tasks."""
    make_task(lab.folder / "suites" / "other", "one")
    lab.config["tasks"] = ["one"]
    lab.write()
    assert lab.planned()["attempt"] == 4


def test_a_typo_in_the_verb_is_answered_with_the_nearest_one(lab: Lab) -> None:
    """Exit code 2 and no traceback."""
    done = lab.fairtrial("shwo", "x")
    assert done.returncode == 2
    assert "did you mean 'show'" in done.stderr


def test_a_configfile_that_is_not_there_starts_nothing(lab: Lab) -> None:
    """Snakemake meets it before it reads the Snakefile; the name stands in its last line, as docs/running.md says."""
    done = lab.snakemake("--configfile", "missing.yaml")
    assert done.returncode == 1
    assert "FileNotFoundError" in done.stderr.strip().splitlines()[-1]
    assert "missing.yaml" in done.stderr.strip().splitlines()[-1]
    assert not lab.results.exists()
