"""11: were the rules kept; a rule that nobody looked at is `not checked`, which is not `kept`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fairtrial.analysis.report import md
from fairtrial.analysis.report.html import Cell, join, lead, pill, table, tag
from fairtrial.analysis.report.model import Report

ORDER = 11
TITLE = "Were the rules kept?"
QUESTION = "Observed by the pipeline, not told by the agent."


def _true(name: str) -> Callable[[Report, int], bool | None]:
    return lambda report, row: report.columns[name][row]


def _none_of(name: str) -> Callable[[Report, int], bool | None]:
    def kept(report: Report, row: int) -> bool | None:
        value = report.columns[name][row]
        return None if value is None else value == 0

    return kept


def _model(report: Report, row: int) -> bool | None:
    seen, asked = report.columns["model_observed"][row], report.columns["model_configured"][row]
    return None if seen is None or asked is None else seen == asked


def _time(report: Report, row: int) -> bool | None:
    used, budget = report.columns["agent_seconds"][row], report.columns["wall_budget_seconds"][row]
    return None if used is None or budget is None else used <= budget * 1.05 + 2


def _boxed(report: Report, row: int) -> bool | None:
    net = report.columns["netns"][row]
    return None if net is None else net in ("none", "endpoint") or None


RULES: tuple[tuple[str, Callable[[Report, int], Any]], ...] = (
    ("Acceptance files untouched", _true("acceptance_untouched")),
    ("Protected files untouched", _true("protected_ok")),
    ("No violation observed", _none_of("violations")),
    ("No command refused by policy", _none_of("policy_refusals")),
    ("Inside the time budget", _time),
    ("Observed model matches configured", _model),
    ("No request to another model", _none_of("foreign_requests")),
    ("No network outside the allow-list", _boxed),
)


def counts(report: Report, arms: Sequence[int], rule: Callable[[Report, int], Any]) -> tuple[int, int]:
    """(kept, checked) over these arms' attempts with a result."""
    seen = [rule(report, row) for arm in arms for row in report.rows_of[arm] if report.done[row]]
    known = [kept for kept in seen if kept is not None]
    return sum(map(bool, known)), len(known)


def wide(report: Report) -> str:
    """Half the page as long as the columns fit."""
    return "half" if len(report.programs) <= 4 else ""


def _cell(kept: int, checked: int) -> Cell:
    if not checked:
        return Cell(tag("span", "not checked", class_="quiet"), -1)
    shown = f"{kept}/{checked}"
    return Cell(pill(shown, "warn") if kept < checked else shown, kept / checked)


def html(report: Report) -> str:
    """Rules by arm, or by harness where there are many arms."""
    rows = [[name, *(_cell(*counts(report, arms, rule)) for arms in report.programs.values())] for name, rule in RULES]
    text = (
        "Checked by the pipeline on every attempt, not by the agent: kept / checked. "
        "\u201cNot checked\u201d is not \u201ckept\u201d."
    )
    return join(
        [lead(text), table(["Rule", *report.programs], rows, TITLE, numeric=range(1, len(report.programs) + 1))]
    )


def markdown(report: Report) -> str:
    """The same table."""
    rows = []
    for name, rule in RULES:
        pairs = [counts(report, arms, rule) for arms in report.programs.values()]
        rows.append([name, *(f"{kept}/{checked}" if checked else "not checked" for kept, checked in pairs)])
    return md.table(["Rule", *report.programs], rows)
