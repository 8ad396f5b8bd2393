"""The gate's arithmetic: what is missing, what it will cost, and the command that allows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import bound, estimate, gate, invocation
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.records import dump
from fairtrial.paths import Results

CELL = {
    "suite": "s", "task": "t", "harness": "h", "model": "m", "recipe": "0" * 12, "toolset": "git", "adoption": "warm",
    "free": False, "repetitions": 4,
}  # fmt: skip
TOKENS = {"input_uncached": 1000, "cache_read": 500, "cache_write": None, "output": 100, "reasoning": 40}


def graded(results: Results, repetition: int, usd: float | None, recipe: str = "1" * 12) -> None:
    """One earlier attempt of the arm."""
    folder = results.root / f"attempts/s/t/h/m/{recipe}/r{repetition}/grades/{'2' * 12}"
    said = {"cost_usd": usd, "tokens": TOKENS, "agent_seconds": 30.0 * repetition}
    dump(folder / "result.json", {"toolset": "git", "adoption": "warm", "performance": {"time_cost": said}})


def test_without_history_the_pilot_default_is_named(tmp_path: Path) -> None:
    """52,000 tokens and 0.09 USD an attempt, labelled."""
    with pytest.raises(UserError) as caught:
        gate.check(Results(tmp_path), [CELL], False)
    text = str(caught.value)
    assert "h x git x warm x m: 4 attempts missing: about 208,000 tokens (pilot default)" in text
    assert "about 0.36 USD (pilot default)" in text
    assert "--configfile allow-spend.yaml" in text


def test_with_history_the_estimate_has_a_range(tmp_path: Path) -> None:
    """Mean of the arm's earlier attempts times the missing ones, lowest and highest in brackets."""
    results = Results(tmp_path)
    for repetition, usd in enumerate((0.10, 0.20, 0.60), 1):
        graded(results, repetition, usd)
    lines = gate.forecast(results, gate.costing(results, [CELL]), {})
    assert "about 6,400 tokens (6,400 to 6,400)" in lines[0]
    assert "about 1.20 USD (0.40 to 2.40)" in lines[0]
    assert "about 4 min of agent time (2 min to 6 min) (from 3 earlier attempts)" in lines[0]


def test_prices_stand_in_for_a_cost_that_nobody_said(tmp_path: Path) -> None:
    """Tokens times the price table."""
    graded(Results(tmp_path), 1, None)
    price = {"input": 1000.0, "cache_read": 0.0, "output": 0.0}
    found = estimate.history(Results(tmp_path), ("h", "git", "warm", "m"), price)
    assert found.usd == [1.0]


@pytest.mark.parametrize("allow", [False, None, "true", 1, [True]])
def test_only_the_boolean_true_allows(tmp_path: Path, allow: object) -> None:
    """Nothing that merely looks like true."""
    with pytest.raises(UserError):
        gate.check(Results(tmp_path), [CELL], allow)  # type: ignore[arg-type]


def test_free_arms_and_complete_arms_need_no_permission(tmp_path: Path) -> None:
    """Nothing missing that costs money: nothing to say."""
    assert gate.check(Results(tmp_path), [{**CELL, "free": True}], False) == []


def test_the_configuration_of_a_profile_stays_with_the_permission() -> None:
    """Snakemake would drop it for the file on the command line, and run the matrix of the checkout instead."""
    said = invocation.command_line(["--profile", "mine"], "allow-spend.yaml", [Path("my config.yaml")])
    assert said == "snakemake --profile mine --configfile 'my config.yaml' allow-spend.yaml"
    given = invocation.command_line(["--configfile", "a.yaml"], "allow-spend.yaml", [Path("/x/a.yaml")])
    assert given == "snakemake --configfile a.yaml allow-spend.yaml"


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        (["--cores", "2"], "snakemake --cores 2 --configfile allow-spend.yaml"),
        (["--configfile", "a.yaml", "--cores", "2"], "snakemake --configfile a.yaml allow-spend.yaml --cores 2"),
        (["--configfile=a b.yaml"], "snakemake --configfile 'a b.yaml' allow-spend.yaml"),
        (["--configfile", "allow-spend.yaml"], "snakemake --configfile allow-spend.yaml"),
        (["-c2", "--", "all"], "snakemake -c2 --configfile allow-spend.yaml -- all"),
        (["--configfile", "a.yaml", "--", "all"], "snakemake --configfile a.yaml allow-spend.yaml -- all"),
    ],
)
def test_the_command_that_allows_keeps_what_was_given(given: list[str], printed: str) -> None:
    """Snakemake takes the last --configfile only, so the new file joins it; words are quoted."""
    assert invocation.command_line(given, "allow-spend.yaml") == printed


def recipe(adapter: str, usd: float | None, price: object = None) -> dict:
    """What bound looks at."""
    names = {"harness": {"name": "h", "adapter": adapter}, "model": {"name": "m"}}
    return {**names, "budget": {"usd": usd}, "price": price}


def test_a_budget_is_a_bound_only_where_something_enforces_it() -> None:
    """Claude's CLI does; codex does not, unless the endpoint counts with a price; per_attempt_usd always counts."""
    settings = Settings()
    assert bound.bound(settings, recipe("claude", 2.0)) == 2.0
    assert bound.bound(settings, recipe("codex", 2.0)) is None
    assert bound.bound(settings, recipe("codex", 2.0, {"input": 1})) == 2.0
    assert bound.bound(Settings(per_attempt_usd=0.5), recipe("codex", None)) == 0.5


@pytest.mark.parametrize(
    ("settings", "usd", "said"),
    [
        (Settings(max_usd=10.0), 2.0, "add spend.per_attempt_usd"),
        (Settings(max_usd=1.0, per_attempt_usd=2.0), None, "is less than the 2.00 USD one attempt"),
        (Settings(max_usd=float("nan")), None, "is no amount"),
        (Settings(per_attempt_usd=float("inf")), None, "is no amount"),
    ],
)
def test_a_cap_that_could_not_hold_is_refused(settings: Settings, usd: float | None, said: str) -> None:
    """One line that names the key and what to do."""
    with pytest.raises(UserError, match=r"config: spend\.") as caught:
        bound.refuse_unbounded(settings, [recipe("codex", usd)])
    assert said in str(caught.value)
