"""10: version-control reads, writes and errors, tool calls: over green attempts, counters that are heuristic say so."""

from __future__ import annotations

from fairtrial.analysis.report import md, words
from fairtrial.analysis.report.html import Cell, join, lead, table
from fairtrial.analysis.report.model import Report
from fairtrial.analysis.report.sections.scorecard import label

ORDER = 10
TITLE = "How much effort did it take?"
QUESTION = "Version-control reads, writes, errors, tool calls."
COLUMNS = (
    ("Version-control reads", "green_vc_reads"),
    ("writes", "green_vc_writes"),
    ("errors", "green_vc_errors"),
    ("Tool calls", "green_tool_calls"),
    ("Turns", "green_turns"),
    ("Commands", "green_commands"),
    ("Files changed", "green_files_changed"),
    ("Lines added", "green_lines_added"),
    ("Parser calls*", "green_parser_calls"),
    ("Repeated reads*", "green_repeated_reads"),
    ("Selector failures*", "green_selector_failures"),
)
CAVEAT = (
    "Mean over tasks of a green attempt's counts; an attempt that does not say is left out, never 0. Columns with * "
    "are heuristics: they count patterns in commands and error texts and may miss or overcount, so read them as hints."
)


def html(report: Report) -> str:
    """One table."""
    heads = ["Configuration", *(name for name, _ in COLUMNS)]
    rows = [
        [
            Cell(label(arm), arm.name),
            *(Cell(words.plain(report.card(arm)[key], 1), report.card(arm)[key]) for _, key in COLUMNS),
        ]
        for arm in report.ranked
    ]
    return join([lead(CAVEAT), table(heads, rows, TITLE, numeric=range(1, len(heads)))])


def markdown(report: Report) -> str:
    """The same table."""
    heads = ["Configuration", *(name for name, _ in COLUMNS)]
    rows = [[arm.name, *(words.plain(report.card(arm)[key], 1) for _, key in COLUMNS)] for arm in report.ranked]
    return md.table(heads, rows) + "\n\n" + md.esc(CAVEAT)
