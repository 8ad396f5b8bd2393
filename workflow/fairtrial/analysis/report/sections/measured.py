"""12: for every field, how many attempts have a value of those where one is possible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fairtrial.analysis.report import md, words
from fairtrial.analysis.report.html import Cell, Safe, details, join, lead, pill, table, tag
from fairtrial.analysis.report.model import Report

ORDER = 12
TITLE = "What was measured?"
QUESTION = "Coverage of every field."

MAIN = (
    ("Verifier outcome", "check_passed", "done"),
    ("Seconds to green (passing only)", "seconds_to_green", "green"),
    ("First green moment (passing only)", "first_green_upper_seconds", "green"),
    ("Wall seconds", "agent_seconds", "done"),
    ("Tokens", "input_uncached_tokens", "done"),
    ("Cost, US dollars", "cost_usd", "done"),
    ("Turns", "turns", "done"),
    ("Tool calls", "tool_calls", "done"),
    ("Traced commands", "commands", "done"),
    ("Observed model", "model_observed", "done"),
)
SOURCES = {
    "cli": "said by the agent program",
    "endpoint": "metered by the endpoint",
    "price_table": "tokens \u00d7 price table",
    "unknown": "unknown",
}
REST = (
    "harness_version", "api_seconds", "requests", "first_command_seconds", "first_mutation_seconds",
    "first_acceptance_green_seconds", "vc_reads", "vc_writes", "vc_errors", "vc_occupied_seconds", "vc_output_bytes",
    "tool_output_bytes", "parser_calls", "repeated_reads", "selector_failures", "skill_reads", "files_changed",
    "lines_added", "patch_sha256", "cache_read_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens",
    "policy_refusals", "foreign_requests", "violations", "protected_ok", "acceptance_untouched", "terminal_event",
    "malformed_lines", "errors", "warnings", "verifier_seconds", "trace_shim", "load",
)  # fmt: skip


def coverage(report: Report, arms: Sequence[int], name: str, among: str) -> tuple[int, int]:
    """(attempts with a value, attempts where one is possible)."""
    rows = [row for arm in arms for row in report.rows_of[arm] if report.done[row]]
    if among == "green":
        rows = [row for row in rows if report.columns["outcome"][row] == "green"]
    return sum(report.columns[name][row] is not None for row in rows), len(rows)


def wide(report: Report) -> str:
    """Half the page as long as the columns fit."""
    return "half" if len(report.programs) <= 4 else ""


def _cell(known: int, possible: int, needed: bool = True) -> Cell:
    if not possible:
        return Cell(tag("span", "none possible", class_="quiet"), -1)
    shown = f"{known}/{possible}"
    return Cell(pill(shown, "warn") if known < possible and needed else shown, known / possible)


def _table(report: Report, fields: Sequence[tuple[str, str, str]], label: str) -> Safe:
    groups = report.programs.values()
    rows: list[list[object]] = []
    for shown, name, among in fields:
        costly = [name != "cost_usd" or not report.free.issuperset(arms) for arms in groups]
        known = (coverage(report, arms, name, among) for arms in groups)
        rows.append([shown, *(_cell(*pair, needed) for pair, needed in zip(known, costly, strict=True))])
    return table(["Field", *report.programs], rows, label, numeric=range(1, len(report.programs) + 1))


def html(report: Report) -> str:
    """The main fields, the others to unfold, and the sources of cost."""
    rest = [(name.replace("_", " "), name, "done") for name in REST]
    return join([
        lead("Attempts with a value, of those where one is possible."),
        _table(report, MAIN, TITLE),
        details("Every other field", _table(report, rest, "Coverage of the other fields")),
        tag("p", costs(report), class_="quiet"),
    ])  # fmt: skip


def costs(report: Report) -> str:
    """Where costs come from, by number of attempts, and how many token counts are lower bounds."""
    rows = [row for row in range(report.planned) if report.done[row]]
    found = Counter(report.columns["cost_source"][row] or "unknown" for row in rows)
    said = ", ".join(f"{SOURCES.get(key, key)} {count}" for key, count in sorted(found.items()))
    bound = sum(bool(report.columns["tokens_lower_bound"][row]) for row in rows)
    attempts = f"{words.plural(bound, 'attempt')} {'is' if bound == 1 else 'are'}"
    more = f" Tokens of {attempts} a lower bound (no terminal event)." if bound else ""
    return f"Source of cost: {said or 'nothing measured'}.{more}"


def markdown(report: Report) -> str:
    """The main fields."""
    rows = []
    for shown, name, among in MAIN:
        pairs = [coverage(report, arms, name, among) for arms in report.programs.values()]
        rows.append([shown, *(f"{known}/{possible}" for known, possible in pairs)])
    return md.table(["Field", *report.programs], rows) + "\n\n" + md.esc(costs(report))
