"""10: version-control reads, writes and errors, tool calls over green attempts; process signals. Heuristics say so."""

from __future__ import annotations

from fairtrial.analysis.report import md, words
from fairtrial.analysis.report.html import Cell, Safe, join, lead, table, tag
from fairtrial.analysis.report.model import Report
from fairtrial.analysis.report.sections.scorecard import label

ORDER = 10
TITLE = "How much effort did it take?"
QUESTION = "Version-control reads, writes, errors, tool calls."
Columns = tuple[tuple[str, str, int], ...]  # head, key of the scorecard, decimal places

COLUMNS: Columns = (
    ("Version-control reads", "green_vc_reads", 1),
    ("writes", "green_vc_writes", 1),
    ("errors", "green_vc_errors", 1),
    ("Tool calls", "green_tool_calls", 1),
    ("Turns", "green_turns", 1),
    ("Commands", "green_commands", 1),
    ("Files changed", "green_files_changed", 1),
    ("Lines added", "green_lines_added", 1),
    ("Parser calls*", "green_parser_calls", 1),
    ("Repeated reads*", "green_repeated_reads", 1),
    ("Selector failures*", "green_selector_failures", 1),
)
CAVEAT = (
    "Mean over tasks of a green attempt's counts; an attempt that does not say is left out, never 0. Columns with * "
    "are heuristics: they count patterns in commands and error texts and may miss or overcount, so read them as hints."
)
SIGNALS: Columns = (
    ("Green, never checked*", "signal_green_unchecked", 0),
    ("Retried blindly*", "signal_blind_retries", 0),
    ("Seconds after first green, median*", "signal_after_green_seconds", 1),
    ("Went red again*", "went_red_again", 0),
    ("Status 0, nothing changed*", "signal_empty_diff_exit_0", 0),
    ("Stopped early?*", "signal_early_stop", 0),
)
SIGNALS_TITLE = "How did it come to its end?"
SIGNALS_CAVEAT = (
    "Counts of scored attempts, and of green ones where it says green. All of them are heuristics, recorded and never "
    "acted on: an agent may check in another way than by the visible command, and changing nothing can be right."
)


def html(report: Report) -> str:
    """Two tables, effort and process signals."""
    parts = [lead(CAVEAT), _html(report, COLUMNS, TITLE)]
    return join([*parts, tag("h3", SIGNALS_TITLE), lead(SIGNALS_CAVEAT), _html(report, SIGNALS, SIGNALS_TITLE)])


def _html(report: Report, columns: Columns, title: str) -> Safe:
    rows = [
        [Cell(label(arm), arm.name), *(Cell(words.plain(card[key], digits), card[key]) for _, key, digits in columns)]
        for arm, card in ((arm, report.card(arm)) for arm in report.ranked)
    ]
    return table(_heads(columns), rows, title, numeric=range(1, len(columns) + 1))


def markdown(report: Report) -> str:
    """The same tables."""
    parts = [_markdown(report, COLUMNS), md.esc(CAVEAT)]
    return "\n\n".join([*parts, f"### {SIGNALS_TITLE}", _markdown(report, SIGNALS), md.esc(SIGNALS_CAVEAT)])


def _markdown(report: Report, columns: Columns) -> str:
    rows = [
        [arm.name, *(words.plain(report.card(arm)[key], digits) for _, key, digits in columns)] for arm in report.ranked
    ]
    return md.table(_heads(columns), rows)


def _heads(columns: Columns) -> list[str]:
    return ["Configuration", *(name for name, _, _ in columns)]
