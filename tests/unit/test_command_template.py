"""A mistaken command template is refused when the plan is made."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairtrial.contracts.errors import Fault, UserError
from fairtrial.contracts.protocols import Budget, LaunchRequest
from fairtrial.harnesses.command import launch

from tests.lab import Lab

ALLOWED = "{prompt}, {prompt_file}, {workspace}, {model}"


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("./good {promt}", "unknown placeholder {promt} in '{promt}'"),
        ("agent {Prompt}", "unknown placeholder {Prompt}"),
        ("agent { prompt }", "unknown placeholder { prompt }"),
        (["agent", "--task={prompt-file}"], "unknown placeholder {prompt-file}"),
        ("agent {prompt", "placeholder {prompt in '{prompt' lacks a brace"),
        ("agent --task={promt", "placeholder {promt in '--task={promt' lacks a brace"),
        ("agent {workspace/in", "placeholder {workspace in"),
        ("agent --model=model}", "placeholder model} in"),
        ("  ", "names no program"),
        (["", "x"], "names no program"),
        ("{workspace}/agent", "the program itself can be no placeholder"),
    ],
)
def test_a_mistaken_placeholder_is_named_with_those_allowed(template: str | list[str], words: str) -> None:
    """Unknown, misspelt, a brace short, or where the program should be; never passed on as it stands."""
    with pytest.raises(UserError) as refused:
        launch.check({"template": template})
    assert words in str(refused.value)
    assert ALLOWED in str(refused.value)


@pytest.mark.parametrize(
    "template",
    [
        "agent",
        "agent {prompt} {model} --in={workspace} --file {prompt_file}",
        'agent \'{"prompt": 1, "model": "{model}"}\'',
        "sh -c 'cd ${HOME} && touch {a,b} {} && f() { prompt; }'",
        "awk '{print $1}'",
    ],
)
def test_other_braces_are_the_programs_own(template: str) -> None:
    """JSON, a shell's and awk's stay as they are."""
    launch.check({"template": template})


@pytest.mark.parametrize("template", ["./good {promt}", "./good {prompt", "", "x 'y", [], None])
def test_the_plan_refuses_it_and_names_file_and_entry(tmp_path: Path, template: object) -> None:
    """Exit code 2 before anything is reserved or started."""
    lab = Lab(tmp_path)
    lab.harnesses["mine"] = {"adapter": "command", "options": {} if template is None else {"template": template}}
    lab.config.update(harnesses=["mine"])
    lab.write()
    done = lab.fairtrial("plan", "--configfile", "config.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "harnesses.yaml: mine: options" in done.stderr
    assert "template" in done.stderr
    assert not lab.results.exists()


def request(folder: Path, program: Path, **options: object) -> LaunchRequest:
    """What the adapter is asked."""
    return LaunchRequest(
        prompt="p", workspace="/task", home="/home/agent", model={"id": None, "name": "none"},
        options={"template": [str(program)], **options}, budget=Budget(5), endpoint_url=None, secrets={},
        solution=None, seed=0, scratch=folder / "more",
    )  # fmt: skip


def test_an_interpreter_that_env_would_not_find_in_the_box_is_a_fault(tmp_path: Path) -> None:
    """`#!/usr/bin/env X` starts `env`, so it is looked at before; what is there, and a PATH of one's own, passes."""
    program = tmp_path / "agent"
    program.write_text("#!/usr/bin/env -S nowhere9 --flag\n")
    program.chmod(0o755)
    with pytest.raises(Fault, match=r"agent could not be started.*nowhere9 is not in") as found:
        launch.launch(request(tmp_path, program))
    assert found.value.kind == "cli_missing"
    assert launch.launch(request(tmp_path, program, env={"PATH": "/opt/mine"})).argv == (str(program),)
    for first in ("#!/usr/bin/env python3", "#!/usr/bin/env sh", "#!/bin/sh", "echo"):
        program.write_text(f"{first}\n")
        assert launch.launch(request(tmp_path, program)).argv == (str(program),)
