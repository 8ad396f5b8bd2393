"""Pairs of a program and a model that cannot talk are no paid attempts: skipped with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fairtrial.contracts.errors import UserError
from fairtrial.plan import config as configuration
from fairtrial.plan.matrix import Matrix, expand

from tests.lab import CHECKOUT

SEVERAL = ["opencode", "pi", "aider", "mini-swe-agent"]  # speak OpenAI's protocol and Anthropic's


def planned(
    folder: Path, harnesses: dict[str, Any] | list[str], models: dict[str, Any] | list[str], **more: Any
) -> Matrix:
    """One task with shipped entries (by name) or own ones."""
    raw: dict[str, Any] = {
        "tasks": ["time-to-green/tally-group"], "harnesses": list(harnesses), "models": list(models), "repetitions": 1,
        **more,
    }  # fmt: skip
    for kind, entries in (("harnesses", harnesses), ("models", models)):
        if isinstance(entries, dict):
            (folder / f"{kind}.yaml").write_text(json.dumps(entries))
            raw[f"{kind}_file"] = f"{kind}.yaml"
    return expand(configuration.load(raw, CHECKOUT, folder))


def why(matrix: Matrix) -> dict[str, str]:
    """What was skipped, with its reason."""
    return {entry["what"]: entry["why"] for entry in matrix.record["skipped"]}


def test_a_model_without_a_wire_speaks_what_its_provider_speaks(tmp_path: Path) -> None:
    """claude and gemini know no protocol of OpenAI; codex and the others know one of the two."""
    skipped = why(planned(tmp_path, ["claude", "gemini", "codex", "qwen", *SEVERAL], ["gpt-5.4-mini"]))
    assert skipped == {
        f"{name} x gpt-5.4-mini": "the model speaks openai-responses or openai-chat (provider openai), the program "
        + wire
        for name, wire in (("claude", "anthropic"), ("gemini", "gemini"))
    }


def test_a_program_would_ask_a_provider_in_another_ones_protocol(tmp_path: Path) -> None:
    """Without `wire` opencode asks by chat completions: not Anthropic; the reason says what to write."""
    models = {"m": {"id": "claude-x", "provider": "anthropic"}, "n": {"id": None}}
    keyed = {"opencode": {"auth": "key", "key_env": "ANTHROPIC_API_KEY"}}
    assert why(planned(tmp_path, keyed, models)) == {
        "opencode x m": "the model speaks anthropic (provider anthropic), the program asks by openai-chat unless the "
        "model says wire: anthropic"
    }
    models["m"]["wire"] = "anthropic"
    assert why(planned(tmp_path, keyed, models)) == {}


@pytest.mark.parametrize("harness", SEVERAL)
def test_one_providers_key_is_not_planned_to_go_to_another(harness: str, tmp_path: Path) -> None:
    """The shipped entries hold OpenAI's key: no Anthropic model; an entry of its own with that key runs it."""
    skipped = why(planned(tmp_path, [harness], ["gpt-5.4-mini", "claude-haiku-4-5"]))
    assert skipped == {
        f"{harness} x claude-haiku-4-5": "OPENAI_API_KEY is a key of openai, the model is of anthropic; it needs an "
        "entry with that one's key"
    }
    own = {"own": {"adapter": harness, "auth": "key", "key_env": "ANTHROPIC_API_KEY"}}
    assert len(planned(tmp_path, own, ["claude-haiku-4-5"]).cells) == 1


def test_the_key_counts_for_a_command_too(tmp_path: Path) -> None:
    """claude-print hands over Anthropic's key, whatever its template starts."""
    skipped = why(planned(tmp_path, ["claude-print"], ["gpt-5.4-mini", "claude-haiku-4-5"]))
    assert list(skipped) == ["claude-print x gpt-5.4-mini"]


@pytest.mark.parametrize(
    "model",
    [
        {"id": "local", "base_url": "http://127.0.0.1:8000/v1"},
        {"id": "local", "provider": "openai", "base_url": "http://127.0.0.1:8000/v1"},
        {"id": "claude-x", "provider": "anthropic", "base_url": "https://gateway.example/v1"},
        {"id": "local", "provider": "me"},
        {"id": "local"},
        {"id": None},
        {"id": "r", "rehearsal": True, "provider": "google"},
    ],
)
def test_what_is_not_known_to_fail_is_planned(model: dict[str, Any], tmp_path: Path) -> None:
    """Servers of one's own behind a base_url, unknown providers, no id, the rehearsal: with every program."""
    programs = ["claude", "gemini", "codex", "qwen", *SEVERAL]
    matrix = planned(tmp_path, programs, {"m": model})
    assert len(matrix.cells) == len(programs)


def test_a_key_of_a_name_of_its_own_is_nobodys(tmp_path: Path) -> None:
    """Whose it is cannot be told from `MY_KEY`, nor from a login."""
    entries = {"a": {"adapter": "pi", "auth": "key", "key_env": "MY_KEY"}, "b": {"adapter": "pi", "auth": "login"}}
    assert len(planned(tmp_path, entries, ["claude-haiku-4-5"]).cells) == 2


def test_a_program_that_finds_the_provider_itself_may(tmp_path: Path) -> None:
    """`network: host`, no wire: opencode knows more providers than the endpoint; claude does not."""
    models = {"g": {"id": "gemini-x", "provider": "google"}}
    harnesses: dict[str, Any] = {"opencode": {"network": "host"}, "claude": {"network": "host"}}
    assert list(why(planned(tmp_path, harnesses, models))) == ["claude x g"]


def test_an_effort_that_the_program_does_not_know_is_refused(tmp_path: Path) -> None:
    """By the adapter's own words where it has a list; a harness's own option goes first; codex takes any word."""
    models = {"m": {"id": "claude-x", "options": {"effort": "hihg"}}}
    with pytest.raises(
        UserError, match=r"models.yaml: m: options.effort: 'hihg' \(did you mean 'high'\?\) is no effor"
    ):
        planned(tmp_path, {"claude": {}}, models)
    assert planned(tmp_path, {"claude": {"options": {"effort": "low"}}, "codex": {}}, models).cells
