"""One page an attempt: prompt, events as a time line, commands, diff, checks, versions.

Outputs of the report rule, so that a deleted one comes back. A page is written again only when its attempt's record
changed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from fairtrial.analysis import dataset_side as side
from fairtrial.analysis.report import attempt_parts as parts
from fairtrial.analysis.report import page, words
from fairtrial.analysis.report.html import Safe, join, tag
from fairtrial.analysis.report.model import Report
from fairtrial.analysis.report.sections.failures import PAGED, word

Json = dict[str, Any]


def write(report: Report, results: Path, out: Path, folders: dict[str, Path] | None = None) -> int:
    """Write the pages of every attempt with a record below `out`/attempts; returns how many were written anew."""
    written = 0
    for row in range(report.planned):
        if report.columns["status"][row] not in PAGED:
            continue
        key = report.columns["attempt_id"][row]
        folder = (folders or {}).get(key) or results / "attempts" / key
        target = out / "attempts" / f"{key}.html"
        stamp = _stamp(folder, report, row)
        if _stamp_of(target) != stamp:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_page(report, row, folder, results, stamp).encode("utf-8", "replace"))
            written += 1
    return written


def _stamp(folder: Path, report: Report, row: int) -> str:
    grade = report.columns["grade"][row]
    content = (side.slurp(f"{folder}/grades/{grade}/result.json") or b"") if _readable(report, row) else b""
    marks = "|".join(str(report.columns[name][row]) for name in ("status", "excluded", "redone", "cost_usd"))
    marks += "|".join(report.complaints.get(report.columns["attempt_id"][row], ()))
    return hashlib.sha256(content + marks.encode() + page.policy().encode() + parts.VERSION.encode()).hexdigest()[:24]


def _readable(report: Report, row: int) -> bool:
    """Whether the tables hold the attempt's record; nothing else is believed of one they refused."""
    return report.columns["outcome"][row] is not None or report.columns["verdict"][row] is not None


def _stamp_of(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            stream.seek(-80, 2)
            tail = stream.read()
    except OSError:
        return None
    return tail.rsplit(b"<!-- ", 1)[-1].split(b" ", 1)[0].decode("ascii", "replace") if b"<!-- " in tail else None


def _page(report: Report, row: int, folder: Path, results: Path, stamp: str) -> str:
    key, task, c = report.columns["attempt_id"][row], report.task_of[row], report.columns
    title = f"{task}, {c['harness'][row]} {c['model'][row]}, r{c['repetition'][row]}"
    up = "../" * (key.count("/") + 1)
    under = join([tag("p", report.title_of(task), class_="sub"), _facts(report, row), *_banners(report, row),
                  tag("p", tag("a", "Back to the report", href=f"{up}index.html"))])  # fmt: skip
    cards = _cards(report, row, folder, results) if _readable(report, row) and folder.is_dir() else []
    if not folder.is_dir():
        under = join([under, tag("p", "The evidence of this attempt is not below these results.", class_="banner")])
    body = join(
        [
            Safe('<div class="grid">'),
            *(page.card(name, heading, content) for name, heading, content in cards),
            Safe("</div>"),
        ]
    )
    footer = tag("p", f"Evidence: attempts/{key}")
    return page.document(f"{title} \u2013 fairtrial", page.top(title, under), body, footer) + f"<!-- {stamp} -->\n"


def _cards(report: Report, row: int, folder: Path, results: Path) -> list[parts.Card]:
    grade = folder / "grades" / str(report.columns["grade"][row])
    result, events, seal = (
        side.record(str(path))
        for path in (grade / "result.json", grade / "agent-events.json", folder / "evidence.json")
    )
    return [
        parts.checks(result), parts.prompt(seal, _tree(folder, results)), parts.timeline(events, report.wall_budget),
        parts.commands(folder, grade), parts.patch(folder), parts.versions(report, row, result, seal),
    ]  # fmt: skip


def _tree(folder: Path, results: Path) -> Path:
    """The results tree that an attempt is part of: its frozen files are there."""
    tree = folder.absolute().parents[6] if len(folder.absolute().parents) > 6 else results
    return tree if (tree / "objects").is_dir() else results


def _facts(report: Report, row: int) -> Safe:
    c = report.columns
    facts = [
        ("Outcome", word(report, row)), ("Ending", c["ending"][row]), ("Verdict", c["verdict"][row]),
        ("Agent time", words.duration(c["agent_seconds"][row])),
        ("To green", words.duration(c["seconds_to_green"][row])),
        ("First green", parts.between(c["first_green_lower_seconds"][row], c["first_green_upper_seconds"][row])),
        ("Turns", words.DASH if c["turns"][row] is None else c["turns"][row]),
        ("Cost", words.dollars(c["cost_usd"][row])),
        ("Started", f"{words.moment(c['started_at'][row])} UTC"),
    ]  # fmt: skip
    return tag("ul", *(tag("li", f"{name} ", tag("b", value)) for name, value in facts), class_="meta")


def _banners(report: Report, row: int) -> list[Safe]:
    import json

    c = report.columns
    texts = []
    if c["simulated"][row]:
        texts.append("Simulated: this attempt was generated, not measured.")
    lacking = json.loads(c["degraded"][row] or "[]")
    if lacking:
        texts.append(f"Degraded isolation: {'; '.join(map(str, lacking))}.")
    texts += [f"Excluded: {c['excluded'][row]}"] if c["excluded"][row] else []
    texts += [f"Redone: {c['redone'][row]}"] if c["redone"][row] else []
    texts += [f"Could not be read: {reason}" for reason in report.complaints.get(c["attempt_id"][row], ())]
    if report.done[row] and not report.scored[row]:
        texts.append("Unscored: it is in no rate.")
    return [tag("p", text, class_="banner", role="note") for text in texts]
