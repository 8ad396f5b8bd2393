"""Mistakes in harnesses.yaml, models.yaml and the experiment: told with the file in force and what was meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fairtrial.__main__ import main
from fairtrial.capture.spend import gate
from fairtrial.contracts.errors import UserError
from fairtrial.paths import Results
from fairtrial.plan import config as configuration
from fairtrial.plan import machine, snake
from fairtrial.plan.matrix import expand

from tests.lab import CHECKOUT

RAW: dict[str, Any] = {
    "tasks": ["time-to-green/tally-group"], "harnesses": ["h"], "models": ["m"], "repetitions": 1,
    "harnesses_file": "mine.yaml", "models_file": "own.yaml",
}  # fmt: skip
HARNESS = {"adapter": "claude", "auth": "key", "key_env": "A_KEY"}


def planned(
    folder: Path, entry: dict[str, Any] = HARNESS, model: dict[str, Any] | None = None, **change: Any
) -> tuple[configuration.Config, Any]:
    """The configuration and its matrix, of one harness and one model in files of `folder`."""
    (folder / "mine.yaml").write_text(json.dumps({"h": entry}))
    (folder / "own.yaml").write_text(json.dumps({"m": model or {"id": "x", "provider": "acme"}}))
    config = configuration.load({**RAW, **change}, CHECKOUT, folder)
    return config, expand(config)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"slots": {"acmee": 2}},
            "config: slots: 'acmee' is no harness and no provider (did you mean 'acme'?); harness",
        ),
        ({"harnesses": ["hh"]}, "unknown harness 'hh' (did you mean 'h'?); known: h (mine.yaml)"),
        ({"models": ["mm"]}, "unknown model 'mm' (did you mean 'm'?); known: m (own.yaml)"),
        ({"budget": {"wall_seconds": 0}}, "config: budget.wall_seconds: 0 is not allowed; must be more than 0"),
        ({"spend": {"max_usd": -1}}, "config: spend.max_usd: -1 is not allowed; must be more than 0"),
        ({"repetitions": 0}, "config: repetitions: 0 is not allowed; must be at least 1"),
    ],
)
def test_a_mistake_in_the_experiment(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    """Names, limits in words, and the file that was asked for instead of the shipped one."""
    with pytest.raises(UserError) as caught:
        planned(tmp_path, **change)
    assert words in str(caught.value)


def test_slots_of_what_there_is(tmp_path: Path) -> None:
    """A harness and a provider, also ones that this experiment leaves out."""
    assert planned(tmp_path, slots={"h": 1, "acme": 4})


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"adapter": "claude", "auth": "key"}, "mine.yaml: h: auth: key needs key_env, the name of the variable"),
        ({**HARNESS, "key_env": "", "key_file": "k"}, "that holds the key; key_file only says where its value is when"),
        (
            {**HARNESS, "options": {"efort": "low"}},
            "mine.yaml: h: options: unknown key 'efort' (did you mean 'effort'?); known keys: args, bin",
        ),
        ({**HARNESS, "options": {"effort": "hihg"}}, "mine.yaml: h: options.effort: 'hihg' is not one of 'low', "),
        (
            {**HARNESS, "options": {"retries": 21}},
            "mine.yaml: h: options.retries: 21 is not allowed; must be at most 20",
        ),
        ({"adapter": "command", "network": "none"}, "mine.yaml: h: options: 'template' is missing"),
    ],
)
def test_a_mistake_in_a_harness(tmp_path: Path, entry: dict[str, Any], words: str) -> None:
    """The file, the entry, the key, what was meant."""
    with pytest.raises(UserError) as caught:
        planned(tmp_path, entry)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"base_url": "api.example.com"}, "own.yaml: m.base_url: 'api.example.com' is not allowed; where the endpoint"),
        ({"base_url": "https://"}, "http:// or https:// and a host"),
        (
            {"options": {"efort": "high"}},
            "own.yaml: m: options: unknown key 'efort' (did you mean 'effort'?); known keys",
        ),
        ({"options": {"context": 0}}, "own.yaml: m: options.context: 0 is not allowed; must be at least 1"),
        (
            {"rehearsal": True, "options": {"pass_probabilty": 1}},
            "own.yaml: m: options: unknown key 'pass_probabilty' (did you mean 'pass_probability'?); known keys: ",
        ),
        (
            {"rehearsal": True, "options": {"faults": [{"kind": "cut", "frist": 1}]}},
            "own.yaml: m: options.faults.0: unknown key 'frist' (did you mean 'first'?)",
        ),
    ],
)
def test_a_mistake_in_a_model(tmp_path: Path, model: dict[str, Any], words: str) -> None:
    """Keys and options, of the rehearsal too, in the same words."""
    with pytest.raises(UserError) as caught:
        planned(tmp_path, model={"id": "x", **model})
    assert words in str(caught.value)
    assert "additional properties" not in str(caught.value).lower()


def test_a_key_given_twice_in_an_experiment_is_refused_by_the_snakefile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Snakemake would take the last one; its file is read again."""
    file = tmp_path / "twice.yaml"
    file.write_text("repetitions: 1\nrepetitions: 5\n")
    with pytest.raises(SystemExit) as end:
        snake.load(dict(RAW), CHECKOUT, tmp_path, [file])
    assert end.value.code == 2
    assert f"{file}: not valid YAML: key 'repetitions' is given twice: line 2, column 1" in capsys.readouterr().err


def test_what_this_machine_lacks_is_said_before_money_is_permitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Program, key and login file, in the refusal; nothing of them for a rehearsal but the program."""
    monkeypatch.delenv("A_KEY", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    gone = {**HARNESS, "options": {"bin": "no-such-claude"}}
    config, matrix = planned(tmp_path, gone)
    with pytest.raises(UserError) as caught:
        gate.check(Results(tmp_path / "results"), matrix.record["cells"], False, config=config)
    assert "  warning: h: no-such-claude is not on PATH; install it with npm i -g" in str(caught.value)
    assert "  warning: h: A_KEY is not set; export it, or name a key_file" in str(caught.value)
    config, _ = planned(tmp_path, {**gone, "key_file": "nosuch"})
    assert machine.lacks(config, [("h", "m")])[1] == "h: A_KEY is not set and key_file nosuch does not exist"
    config, _ = planned(tmp_path, {**gone, "auth": "login", "login_files": [".claude/nosuch.json"]})
    assert machine.lacks(config, [("h", "m")])[1].startswith("h: ~/.claude/nosuch.json does not exist; log in with")
    config, _ = planned(tmp_path, gone, {"id": "r", "rehearsal": True})
    assert len(machine.lacks(config, [("h", "m")])) == 1


def test_the_plan_says_what_this_machine_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`fairtrial plan` warns and ends with 0: the attempts may run elsewhere."""
    monkeypatch.chdir(tmp_path)
    planned(tmp_path, {"adapter": "command", "options": {"template": "no-such-agent"}})
    (tmp_path / "experiment.yaml").write_text(json.dumps(RAW))
    assert main(["plan", "--configfile", "experiment.yaml"]) == 0
    assert "  warning: h: no-such-agent is not on PATH" in capsys.readouterr().out
