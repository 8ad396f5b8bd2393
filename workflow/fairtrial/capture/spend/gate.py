"""The spend gate: no attempt that costs money starts unless spend.allow is the boolean true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from fairtrial.capture.settings import Settings
from fairtrial.capture.spend import estimate
from fairtrial.contracts.errors import UserError
from fairtrial.contracts.lean import lean
from fairtrial.contracts.plain import counted
from fairtrial.paths import Results

if TYPE_CHECKING:
    from fairtrial.plan.config import Config

ALLOW = "spend:\n  allow: true\n"
COMMAND = "snakemake --cores N --configfile allow-spend.yaml"


@lean
class ArmRow:
    """Planned and missing attempts of one arm."""

    arm: estimate.Arm
    free: bool
    planned: int = 0
    missing: int = 0

    @property
    def name(self) -> str:
        """As it is shown."""
        return " x ".join(self.arm)


def arm_of(cell: Mapping[str, Any]) -> estimate.Arm:
    """The arm of a row of matrix.json."""
    return cell["harness"], cell["toolset"], cell["adoption"], cell["model"]


def missing_by_arm(results: Results, cells: Iterable[Mapping[str, Any]]) -> list[ArmRow]:
    """One row per arm, in the order of the matrix."""
    rows: dict[estimate.Arm, ArmRow] = {}
    for cell in cells:
        arm = arm_of(cell)
        row = rows.setdefault(arm, ArmRow(arm, cell["free"]))
        row.planned += cell["repetitions"]
        row.missing += unsealed(results, cell)
    return list(rows.values())


def unsealed(results: Results, cell: Mapping[str, Any]) -> int:
    """How many repetitions of a cell have no seal."""
    stem = f"{cell['suite']}/{cell['task']}/{cell['harness']}/{cell['model']}/{cell['recipe']}"
    repetitions = range(1, cell["repetitions"] + 1)
    return sum(not results.attempt(f"{stem}/r{r}").evidence.exists() for r in repetitions)


def costing(results: Results, cells: Iterable[Mapping[str, Any]]) -> list[ArmRow]:
    """The arms with missing attempts that cost money."""
    return [row for row in missing_by_arm(results, cells) if row.missing and not row.free]


def forecast(results: Results, rows: Iterable[ArmRow], prices: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One line an arm and one for all: attempts missing, tokens, dollars and time."""
    lines, tokens, usd, total = [], 0.0, 0.0, 0
    for row in rows:
        found = estimate.history(results, row.arm, prices.get(row.arm[3]))
        lines.append(f"  {row.name}: {counted(row.missing, 'attempt')} missing: {estimate.line(found, row.missing)}")
        tokens += row.missing * estimate.expected_tokens(found)
        usd += row.missing * estimate.expected_usd(found)
        total += row.missing
    lines.append(f"  together {counted(total, 'attempt')}: about {tokens:,.0f} tokens and {usd:.2f} USD")
    return lines


def refusal(forecast_lines: list[str], total: int, command: str = COMMAND, lacking: Iterable[str] = ()) -> str:
    """What would be spent, what this machine lacks for it, and how to allow it."""
    missing = "that costs money is" if total == 1 else "that cost money are"
    lines = [
        f"{counted(total, 'attempt')} {missing} missing and spend.allow is not true, so nothing was started:",
        *forecast_lines,
        "  agent time is that of one attempt after another; several at once (--cores) take less",
        *(f"  warning: {line}" for line in lacking),
        "to allow it, write a file allow-spend.yaml that holds",
        *(f"    {line}" for line in ALLOW.splitlines()),
        f"and run: {command}",
    ]
    return "\n".join(lines)


def check(
    results: Results,
    cells: Iterable[Mapping[str, Any]],
    allow: bool,
    prices: Mapping[str, Mapping[str, Any]] | None = None,
    command: str = COMMAND,
    *,
    config: Config | None = None,
) -> list[str]:
    """Before any job: UserError when attempts that cost money are missing and not allowed; else the forecast.

    config: to say in the refusal what this machine lacks for them.
    """
    rows = costing(results, cells)
    if not rows:
        return []
    lines = forecast(results, rows, prices or {})
    if allow is not True:
        lacking = [] if config is None else _lacking(config, rows)
        raise UserError(refusal(lines, sum(row.missing for row in rows), command, lacking))
    return lines


def _lacking(config: Config, rows: Iterable[ArmRow]) -> list[str]:
    from fairtrial.plan import machine  # every attempt imports this module, and none of them asks

    return machine.lacks(config, [(row.arm[0], row.arm[3]) for row in rows])


def check_one(settings: Settings, recipe: dict[str, Any], attempt_id: str) -> None:
    """Inside the attempt command, again."""
    if settings.allow is not True and not settings.is_free(recipe):
        raise UserError(f"{attempt_id}: costs money and spend.allow is not true; run it through {COMMAND}")
