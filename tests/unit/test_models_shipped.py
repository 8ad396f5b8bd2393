"""config/models.yaml as it is shipped: prices that can be checked, and paid models that do not start by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fairtrial.__main__ import main
from fairtrial.capture.spend import gate
from fairtrial.contracts.errors import UserError
from fairtrial.paths import Results
from fairtrial.plan import config as configuration
from fairtrial.plan.matrix import Matrix, expand
from fairtrial.pricing import CATEGORIES, cost, longest

CHECKOUT = Path(__file__).resolve().parents[2]
MODELS = configuration.read_yaml(CHECKOUT / "config" / "models.yaml")
PAID = {name: entry for name, entry in MODELS.items() if entry["id"] and not entry.get("rehearsal")}
UNKNOWN = {"qwen3-coder-plus"}  # its price depends on region and length; the file says where to look
REAL = ["claude", "codex", "opencode", "mini-swe-agent", "pi", "gemini", "qwen", "aider"]


def planned(harnesses: list[str], models: list[str]) -> Matrix:
    """One task with the shipped harnesses and models."""
    raw: dict[str, Any] = {
        "tasks": ["time-to-green/tally-group"], "harnesses": harnesses, "models": models, "repetitions": 1,
    }  # fmt: skip
    return expand(configuration.load(raw, CHECKOUT, CHECKOUT))


def test_models_a_user_would_look_for_are_there() -> None:
    """Every provider that one of the programs talks to has at least one model."""
    assert {entry["provider"] for entry in PAID.values()} == {"anthropic", "openai", "google", "alibaba"}
    assert {name for name, entry in PAID.items() if "price" not in entry} == UNKNOWN


@pytest.mark.parametrize("name", sorted(set(PAID) - UNKNOWN))
def test_every_price_can_be_checked(name: str) -> None:
    """A day, a page, input and output; reads are cheaper than input, writes are not; nothing else."""
    price = PAID[name]["price"]
    assert price["source"].startswith("https://") and len(price["date"]) == 10
    assert set(price) <= {*CATEGORIES.values(), "date", "source", "up_to"}
    assert 0 < price["input"] < price["output"]
    assert 0 < price.get("cache_read", price["input"] / 2) < price["input"] <= price.get("cache_write", price["input"])


@pytest.mark.parametrize("harness", REAL)
def test_a_paid_model_is_refused_unless_allowed(harness: str, tmp_path: Path) -> None:
    """Each real program with each paid model it speaks to: costs money, so the gate stops it and names the arm."""
    matrix = planned([harness], [*PAID])
    cells = matrix.record["cells"]
    assert cells and not any(cell["free"] or cell["simulated"] for cell in cells)
    assert len(cells) + len(matrix.record["skipped"]) == len(PAID)
    with pytest.raises(UserError, match=r"cost money") as refused:
        gate.check(Results(tmp_path), cells, False)
    assert f"{harness} x git x warm x {cells[0]['model']}" in str(refused.value)


def test_a_pair_that_cannot_talk_is_skipped_with_its_reason() -> None:
    """A matrix may name models of several providers; nothing is started to find out that they do not fit."""
    matrix = planned(["claude", "gemini"], ["claude-sonnet-5-5", "gemini-2.5-pro"])
    assert [(c["harness"], c["model"]) for c in matrix.record["cells"]] == [
        ("claude", "claude-sonnet-5-5"),
        ("gemini", "gemini-2.5-pro"),
    ]
    assert {"what": "claude x gemini-2.5-pro", "why": "the model speaks gemini, the program anthropic"} in (
        matrix.record["skipped"]
    )
    with pytest.raises(UserError, match=r"codex x claude-opus-5-5: the model speaks anthropic, the program openai-res"):
        planned(["codex"], ["claude-opus-5-5"])


def test_a_price_for_short_requests_is_not_used_for_long_ones() -> None:
    """`up_to` is about one request: many short ones are priced however large their sum, one that is longer is not."""
    price = {"input": 1.0, "cache_read": 0.1, "output": 10.0, "up_to": 1000}
    tokens: dict[str, int | None] = {"input_uncached": 900, "cache_read": 100, "output": 10}
    assert cost(tokens, price) == cost(tokens, {**price, "up_to": 10_000}) == 0.00101
    assert cost({**tokens, "cache_read": 101}, price) is None
    ten: dict[str, int | None] = {name: 10 * (count or 0) for name, count in tokens.items()}
    assert cost(ten, price) is None
    assert cost(ten, price, longest([tokens] * 10)) == 0.0101
    assert cost(ten, price, longest([*[tokens] * 10, {**tokens, "cache_read": 101}])) is None


def test_the_largest_request_is_known_only_when_each_says_its_own() -> None:
    """A request that said nothing may have been the largest."""
    said: dict[str, int | None] = {"input_uncached": 5, "cache_read": None, "cache_write": 2}
    assert longest([said, {"input_uncached": 6}]) == 7
    assert longest([said, {"input_uncached": None}]) is None
    assert longest([]) is None


def test_list_says_what_a_model_costs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One aligned line a model: the price and its day, or that it is unknown, or that it is free."""
    monkeypatch.chdir(CHECKOUT)
    assert main(["list", "models"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "models:" and len(lines) == len(MODELS)
    said = dict(line.split(maxsplit=1) for line in lines)
    assert said["claude-sonnet-5-5"] == (
        "claude-sonnet-5-5, 2 in, 10 out USD per million tokens on " + PAID["claude-sonnet-5-5"]["price"]["date"]
    )
    assert said["qwen3-coder-plus"] == "qwen3-coder-plus, price unknown"
    assert "free" in said["rehearsal"]
