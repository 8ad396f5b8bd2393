"""The cards of an attempt's page; each returns (id, heading, body). Everything shown is text of others: escaped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fairtrial.analysis import dataset_side as side
from fairtrial.analysis.report import words
from fairtrial.analysis.report.html import Cell, Safe, details, join, lead, pill, scroll, table, tag
from fairtrial.analysis.report.model import Report
from fairtrial.paths import Results

Json = dict[str, Any]
Card = tuple[str, str, Safe]
VERSION = "1"  # raise when the pages of unchanged attempts must be written again
MOST_EVENTS, MOST_COMMANDS, MOST_BYTES = 400, 400, 60_000


def between(low: float | None, high: float | None) -> str:
    """An interval of seconds, (last red, first green]."""
    if high is None:
        return words.DASH
    return f"by {words.duration(high)}" if low is None else f"{words.duration(low)} to {words.duration(high)}"


def checks(result: Json) -> Card:
    """Named checks with what they said."""
    found = result.get("performance", {}).get("correctness", {})
    rows = [
        [check["name"], check["kind"], pill("passed", "good") if check["passed"] else pill("failed", "warn"),
         Cell(check["detail"] or "", None, "wrap")]
        for check in found.get("checks", [])
    ]  # fmt: skip
    parts: list[object] = (
        [table(["Check", "Kind", "Verdict", "What it said"], rows, "Checks")] if rows else [lead("No check ran.")]
    )
    if found.get("verifier_error"):
        parts.append(tag("p", f"Verifier error: {found['verifier_error']}"))
    violations = result.get("performance", {}).get("compliance", {}).get("violations")
    if violations:
        items = [tag("li", f"{v['rule']}: {v['detail']}") for v in violations]
        parts += [tag("h3", "Violations"), tag("ul", *items, class_="rows")]
    return "checks", "Checks", join(parts)


def prompt(seal: Json, results: Path) -> Card:
    """The exact text submitted, from the frozen files."""
    digest = seal.get("recipe", {}).get("prompt_sha256")
    content = side.slurp(str(Results(results).blob(digest))) if digest else None
    if content is None:
        return "prompt", "Prompt", lead(f"The frozen text is not here; its sha256 is {digest or 'unknown'}.")
    return "prompt", "Prompt", _text(content)


def _text(content: bytes) -> Safe:
    shown = content[:MOST_BYTES].decode("utf-8", "replace")
    more = f"\n[{len(content) - MOST_BYTES:,} more bytes]" if len(content) > MOST_BYTES else ""
    return tag("pre", shown + more)


def _at(mark: Any) -> str:
    return words.duration(mark / 1e9) if isinstance(mark, int) else words.DASH


def timeline(events: Json, _budget: float) -> Card:
    """Messages and tool calls in their order; receipt times from the start of the attempt."""
    if not events:
        return "events", "Events", lead("There is no transcript.")
    entries = [(m["order"], m.get("at_ns"), m["role"], m["text"], "") for m in events.get("messages", [])]
    for call in events.get("tool_calls", []):
        said = call.get("command") or json.dumps(call.get("arguments"), ensure_ascii=False)
        state = "" if call.get("complete") else " (no result)"
        state += " (error)" if call.get("is_error") else ""
        entries.append(
            (call["order"], call.get("started_ns"), f"{call['name']}{state}", said, call.get("output_head") or "")
        )
    entries.sort(key=lambda entry: entry[0])
    items = [_event(*entry[1:]) for entry in entries[:MOST_EVENTS]]
    parts: list[object] = (
        [tag("ul", *items, class_="rows")] if items else [lead("The transcript holds no message and no tool call.")]
    )
    if len(entries) > MOST_EVENTS:
        parts.append(
            tag("p", f"{len(entries) - MOST_EVENTS:,} more events stand in agent-events.json.", class_="quiet")
        )
    errors = [tag("li", f"{e['kind']}: {e['message']}") for e in events.get("errors", [])]
    if errors:
        parts += [tag("h3", "Errors in the stream"), tag("ul", *errors, class_="rows")]
    return "events", "Events", join(parts)


def _event(mark: Any, who: str, said: str, output: str) -> Safe:
    head = join([tag("span", _at(mark), class_="quiet"), " ", tag("b", who), " "])
    short = said if len(said) <= 4000 else said[:4000] + f"\n[{len(said) - 4000:,} more characters]"
    parts: list[object] = [head, tag("pre", short) if "\n" in short or len(short) > 120 else tag("code", short)]
    if output:
        parts.append(details("Output", tag("pre", output)))
    return tag("li", *parts)


def commands(folder: Path, grade: Path) -> Card:
    """The traced commands."""
    complaints: list[side.Complaint] = []
    rows = side.command_rows("", str(folder), grade.name, complaints)
    if not rows:
        return "commands", "Commands", lead("No command was traced.")
    body = [
        [Cell(words.duration(r["started_seconds"]), r["started_seconds"]), Cell(tag("code", _line(r)), None, "wrap"),
         Cell(words.duration(r["seconds"]), r["seconds"]), _exit(r), r["bucket"] or words.DASH, r["vc"] or words.DASH]
        for r in rows[:MOST_COMMANDS]
    ]  # fmt: skip
    made = table(["At", "Command", "Took", "Exit", "Whose", "Version control"], body, "Commands", numeric=(2,))
    parts: list[object] = [made]
    if len(rows) > MOST_COMMANDS:
        parts.append(tag("p", f"{len(rows) - MOST_COMMANDS:,} more stand in trace.jsonl.", class_="quiet"))
    parts += [tag("p", f"{name}: {reason}", class_="quiet") for name, reason in complaints]
    return "commands", "Commands", join(parts)


def _line(row: Json) -> str:
    import shlex

    argv = json.loads(row["argv"]) if row["argv"] else [row["command"] or ""]
    text = shlex.join(map(str, argv))
    return text if len(text) <= 500 else text[:500] + "\u2026"


def _exit(row: Json) -> str:
    if row["refused"]:
        return "refused"
    if row["signal"] is not None:
        return f"signal {row['signal']}"
    return words.DASH if row["exit_status"] is None else str(row["exit_status"])


def patch(folder: Path) -> Card:
    """The change, start to end."""
    content = side.slurp(f"{folder}/workspace.patch")
    if content is None:
        return "change", "Change", lead("No change was captured.")
    if not content.strip():
        return "change", "Change", lead("The workspace was left as it was.")
    lines = content[:MOST_BYTES].decode("utf-8", "replace").split("\n")
    kinds = {"+": "add", "-": "del"}
    plain = ("+++ ", "--- ")
    marked = [
        tag("span", line, class_=kinds[line[0]]) if line[:1] in kinds and not line.startswith(plain) else line
        for line in lines
    ]
    more = [f"\n[{len(content) - MOST_BYTES:,} more bytes in workspace.patch]"] if len(content) > MOST_BYTES else []
    return "change", "Change", scroll(tag("pre", join(marked, "\n"), *more), "Text: Change")


def versions(report: Report, row: int, result: Json, seal: Json) -> Card:
    """Versions, isolation in force, canaries, recipe."""
    told = {**result.get("versions", {}), "model configured": report.columns["model_configured"][row],
            "model observed": report.columns["model_observed"][row]}  # fmt: skip
    isolation = result.get("isolation", {})
    told |= {f"isolation {key}": value for key, value in isolation.items() if key not in ("degraded", "canaries")}
    told |= {f"canary {key}": value for key, value in isolation.get("canaries", {}).items()}
    told |= {
        "recipe": seal.get("recipe_sha256"),
        "grade": result.get("grade_sha256"),
        "evidence": result.get("evidence_sha256"),
    }
    pairs = [
        part for name, value in told.items() for part in (tag("dt", name.replace("_", " ")), tag("dd", _said(value)))
    ]
    return "versions", "Versions and isolation", tag("dl", *pairs)


def _said(value: Any) -> str:
    return (
        {None: "not measured", True: "yes", False: "no"}.get(value, str(value))
        if not isinstance(value, list | dict)
        else json.dumps(value)
    )
