"""13: what is in no rate and why, definitions, versions, isolation in force."""

from __future__ import annotations

from collections import Counter

from fairtrial.analysis.report import md, words
from fairtrial.analysis.report.html import Cell, Safe, details, join, lead, table, tag
from fairtrial.analysis.report.model import Report
from fairtrial.analysis.report.sections.failures import PAGED
from fairtrial.analysis.report.sections.scorecard import label

ORDER = 13
TITLE = "What was left out, and what was in force?"
QUESTION = "Excluded attempts, definitions, versions, isolation."
MOST = 200
CROWDED = 1.5  # load per CPU; the attempt notes it too


def html(report: Report) -> str:
    """Lists of what is left out, then versions and isolation, then definitions."""
    found = left_out(report)
    heads = ["Attempt", "Why", "What"]
    rows: list[list[object]] = [
        [_link(report, row, name), kind, Cell(text, None, "wrap")] for row, name, kind, text in found[:MOST]
    ]
    parts: list[object] = [lead(_summary(report))]
    if rows:
        parts.append(table(heads, rows, "Attempts left out, faults and problems"))
    if len(found) > MOST:
        parts.append(tag("p", f"{len(found) - MOST:,} more stand in report.json and the tables.", class_="quiet"))
    parts += [tag("h3", "Versions and isolation in force"), _versions(report), *_skipped(report), _definitions(report)]
    return join(parts)


def _summary(report: Report) -> str:
    counts = Counter(report.columns["status"])
    unscored = sum(d and not s for d, s in zip(report.done, report.scored, strict=True))
    said = [
        f"{report.planned:,} planned", f"{counts['done']:,} with a result", f"{unscored:,} of these unscored",
        words.plural(counts["fault"], "infrastructure fault"), f"{counts['not_run']:,} not run",
        f"{counts['excluded']:,} excluded by hand",
        f"{counts['problem']:,} unreadable",
    ]  # fmt: skip
    busy = sum(load is not None and load > CROWDED for load in report.columns["load"])
    if busy:
        said.append(f"{busy:,} run at a load above {CROWDED} per CPU, which may have lengthened their times")
    return "; ".join(said) + ". Faults are no results and count nowhere; unscored attempts are listed and in no rate."


def _link(report: Report, row: int | None, name: str) -> Safe | str:
    if row is None or not report.linked or report.columns["status"][row] not in PAGED:
        return name
    return tag("a", name, href=f"attempts/{report.columns['attempt_id'][row]}.html")


def left_out(report: Report) -> list[tuple[int | None, str, str, str]]:
    """(row, attempt, kind, text) of what needs a word: excluded, unscored, redone, suspect, faults, problems."""
    columns = report.columns
    whose = {row: arm.name for arm in report.arms for row in report.rows_of[arm.index]}
    names = [f"{report.task_of[row]}, {whose[row]}, r{n}" for row, n in enumerate(columns["repetition"])]
    found: list[tuple[int | None, str, str, str]] = []
    for row in range(report.planned):
        found += [(row, names[row], kind, text) for kind, text in _words(report, row)]
    place = {key: row for row, key in enumerate(columns["attempt_id"])}
    for fault in report.faults:
        at = place.get(fault["attempt_id"])
        name = fault["attempt_id"] if at is None else names[at]
        found.append((None, name, f"fault: {fault['kind']}", _with_cost(fault["message"], fault["cost_usd"])))
    return found + [(None, problem["path"], "problem", problem["reason"]) for problem in report.problems]


def _with_cost(text: str | None, usd: float | None) -> str:
    """What it was, and what was paid for it where that is known: no rate and no cost per success counts it."""
    return (text or "") + (f" (cost {words.dollars(usd)})" if usd else "")


def _words(report: Report, row: int) -> list[tuple[str, str]]:
    """(kind, text) of one attempt's own marks."""
    columns = report.columns
    found = []
    if columns["status"][row] == "excluded":
        found.append(("excluded", _with_cost(columns["excluded"][row], columns["cost_usd"][row])))
    elif report.done[row] and not report.scored[row]:
        late = columns["ending"][row] == "fault_found_at_grading"
        found.append(("unscored", str(columns["ending_reason" if late else "verdict"][row])))
    if columns["redone"][row]:
        found.append(("redone", _with_cost(columns["redone"][row], columns["redone_cost_usd"][row])))
    if columns["suspect"][row]:
        found.append(("suspect", "the verifier works on the reference and keeps failing here; counted as failed"))
    if columns["corrected"][row]:
        found.append(("corrected", f"verdict of a corrected verifier; before: {columns['raw_verdict'][row]}"))
    return found


def _versions(report: Report) -> Safe:
    heads = ["Configuration", "Harness version", "Observed model", "Isolation", "Network", "Not in force", "Trace"]
    rows: list[list[object]] = []
    for arm in report.ranked:
        card = report.card(arm)
        mixed = " (mixed)" if arm.mixed else ""
        rows.append([
            Cell(label(arm), arm.name), (", ".join(card["harness_versions"]) or words.DASH) + mixed,
            ", ".join(card["models_observed"]) or words.DASH, ", ".join(card["isolations"]) or words.DASH,
            ", ".join(card["networks"]) or words.DASH,
            Cell("; ".join(degraded(report, arm.index)) or "nothing", None, "wrap"),
            ", ".join(sorted(set(report.values(arm, "trace_shim", scored=False)))) or words.DASH,
        ])  # fmt: skip
    return table(heads, rows, "Versions and isolation")


def degraded(report: Report, index: int) -> list[str]:
    """What the isolation of this arm lacked in some attempt, sorted."""
    import json

    texts = {report.columns["degraded"][row] for row in report.rows_of[index] if report.done[row]}
    return sorted({str(item) for text in texts if text and text != "[]" for item in json.loads(text)})


def _skipped(report: Report) -> list[Safe]:
    skipped = report.matrix.get("skipped", [])
    if not skipped:
        return []
    lines = [tag("li", f"{entry['what']}: {entry['why']}") for entry in skipped]
    return [tag("h3", "Never planned"), tag("ul", *lines, class_="rows")]


def _definitions(report: Report) -> Safe:
    entries = report.scorecard["definitions"]
    parts = [part for name, text in entries.items() for part in (tag("dt", name), tag("dd", text))]
    notes = [tag("li", note) for note in report.scorecard["notes"]]
    sources = [
        part for name, digest in report.sources.items() for part in (tag("dt", name), tag("dd", tag("code", digest)))
    ]
    matrix = [tag("dt", "matrix.json"), tag("dd", tag("code", report.matrix["digest"]))]
    return join([details("Definitions of every column", tag("ul", *notes), tag("dl", *parts)),
                 details("Digests of what this page was computed from", tag("dl", *matrix, *sources))])  # fmt: skip


def markdown(report: Report) -> str:
    """What is left out, at most fifty lines, and the isolation line."""
    found = left_out(report)
    lines = [md.esc(_summary(report)), ""]
    lines += [f"- {md.esc(name)}: {md.esc(kind)}: {md.esc(text)}" for _, name, kind, text in found[:50]]
    if len(found) > 50:
        lines.append(f"- and {len(found) - 50} more")
    return "\n".join(lines)
