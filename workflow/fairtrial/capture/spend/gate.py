"""The spend gate: no attempt that costs money starts unless spend.allow is the boolean true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fairtrial.capture.settings import Settings
from fairtrial.contracts.errors import UserError
from fairtrial.paths import Results

PILOT_TOKENS = 52_000  # per attempt, from a pilot; used until an arm has a history
PILOT_USD = 0.09
ALLOW = "spend:\n  allow: true\n"


@dataclass(slots=True)
class ArmRow:
    """Planned and missing attempts of one arm."""

    arm: str
    free: bool
    planned: int = 0
    missing: int = 0


def missing_by_arm(results: Results, cells: Iterable[Mapping[str, Any]]) -> list[ArmRow]:
    """One row per arm, in the order of the matrix."""
    rows: dict[str, ArmRow] = {}
    for cell in cells:
        arm = f"{cell['harness']} x {cell['toolset']} x {cell['adoption']} x {cell['model']}"
        row = rows.setdefault(arm, ArmRow(arm, cell["free"]))
        row.planned += cell["repetitions"]
        row.missing += unsealed(results, cell)
    return list(rows.values())


def unsealed(results: Results, cell: Mapping[str, Any]) -> int:
    """How many repetitions of a cell have no seal."""
    stem = f"{cell['suite']}/{cell['task']}/{cell['harness']}/{cell['model']}/{cell['recipe']}"
    repetitions = range(1, cell["repetitions"] + 1)
    return sum(not results.attempt(f"{stem}/r{r}").evidence.exists() for r in repetitions)


def missing(results: Results, cells: Iterable[Mapping[str, Any]]) -> Counter[tuple[str, str]]:
    """Unsealed attempts that cost money, by harness and model."""
    counts: Counter[tuple[str, str]] = Counter()
    for cell in cells:
        if not cell["free"]:
            counts[cell["harness"], cell["model"]] += unsealed(results, cell)
    return +counts


def refusal(counts: Counter[tuple[str, str]]) -> str:
    """What would be spent and how to allow it."""
    total = counts.total()
    lines = [f"{total} attempts that cost money are missing and spend.allow is not true, so nothing was started:"]
    lines += [f"  {harness} x {model}: {n} attempts" for (harness, model), n in sorted(counts.items())]
    lines += [
        f"  about {total * PILOT_TOKENS:,} tokens and {total * PILOT_USD:.2f} USD (pilot default)",
        "to allow it, write a file allow-spend.yaml that holds",
        *(f"    {line}" for line in ALLOW.splitlines()),
        "and run: snakemake --cores N --configfile allow-spend.yaml",
    ]
    return "\n".join(lines)


def check(results: Results, cells: Iterable[Mapping[str, Any]], allow: bool) -> None:
    """Before any job: UserError when attempts that cost money are missing and not allowed."""
    counts = missing(results, cells)
    if counts and allow is not True:
        raise UserError(refusal(counts))


def check_one(settings: Settings, recipe: dict[str, Any], attempt_id: str) -> None:
    """Inside the attempt command, again."""
    if settings.allow is not True and not settings.is_free(recipe):
        raise UserError(
            f"{attempt_id}: costs money and spend.allow is not true; "
            "run it through snakemake --cores N --configfile allow-spend.yaml"
        )
