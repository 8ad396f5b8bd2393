"""The report: index.html, report.md, report.json, summary.txt and the attempt pages, from tables and a scorecard.

<out>/
    index.html                  one self-contained file
    report.md  summary.txt      for a pull request; for a terminal, 80 columns
    report.json                 every number, and the digests of what it rests on
    attempts/<attempt>.html     one page an attempt, in runs of at most 2,000 attempts
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from fairtrial import registry
from fairtrial.analysis.report import heading, md, model, numbers, page, pairs_view, summary
from fairtrial.analysis.report.html import Safe, join, tag
from fairtrial.analysis.report.model import MOST_LINKED, Report
from fairtrial.contracts import records

SECTIONS = "fairtrial.analysis.report.sections"
Json = dict[str, Any]


@cache
def sections() -> tuple[ModuleType, ...]:
    """Every section in its order."""
    found = [registry.load(SECTIONS, name) for name in registry.names(SECTIONS)]
    return tuple(sorted(found, key=lambda module: module.ORDER))


def build(
    dataset_dir: Path,
    scorecard_dir: Path,
    matrix: Json,
    results: Path,
    out: Path,
    *,
    so_far: bool = False,
    chosen: bool = False,
    folders: dict[str, Path] | None = None,
) -> Report:
    """Write the report of the tables in `dataset_dir` and the scorecard in `scorecard_dir` to `out`.

    `results` is where the attempt pages read evidence from (`folders`: attempt -> folder, for a selection); so_far
    titles the page "41 of 90 attempts". Same input, same bytes.
    """
    report = read(dataset_dir, scorecard_dir, matrix, so_far=so_far, chosen=chosen)
    out.mkdir(parents=True, exist_ok=True)
    if report.linked:
        from fairtrial.analysis.report import attempt_pages

        attempt_pages.write(report, results, out, folders)
    for name, text in (
        ("index.html", html(report)),
        ("report.md", markdown(report)),
        ("summary.txt", summary.text(report)),
    ):
        records.write_bytes(out / name, text.encode("utf-8", "replace"), durable=False)
    records.dump(out / "report.json", numbers.record(report), durable=False)
    return report


def read(dataset_dir: Path, scorecard_dir: Path, matrix: Json, so_far: bool = False, chosen: bool = False) -> Report:
    """The model the sections read."""
    card = records.load(scorecard_dir / "scorecard.json", made_by="fairtrial scorecard")
    compared = scorecard_dir / "comparisons.json"
    pairs = pairs_view.view(records.load(compared, made_by="fairtrial scorecard") if compared.exists() else {})
    report = model.load(dataset_dir, card, pairs, matrix, so_far, False, chosen)
    report.linked = report.planned <= MOST_LINKED and not any(report.columns["foreign"])
    return report


def html(report: Report) -> str:
    """index.html."""
    cards = [_card(report, section) for section in sections()]
    main = join([Safe('<div class="grid">'), *cards, Safe("</div>")])
    title = heading.title(report)
    return page.document(
        f"{title} \u2013 fairtrial", page.top(title, join([heading.html(report), heading.key()])), main, _footer()
    )


def _card(report: Report, section: ModuleType) -> Safe:
    body = Safe(section.html(report))
    if getattr(section, "BARE", False):
        return body
    name = section.__name__.rsplit(".", 1)[-1].replace("_", "-")
    wide = getattr(section, "wide", None)
    return page.card(name, section.TITLE, body, wide(report) if wide else "")


def _footer() -> Safe:
    from fairtrial import __version__

    return tag(
        "p", f"fairtrial {__version__}. Computed from the tables beside this page; report.json holds every number."
    )


def markdown(report: Report) -> str:
    """report.md."""
    lines = [f"# {md.esc(heading.title(report))}", "", md.esc(heading.shape(report)), ""]
    lines += [f"- {name}: {md.esc(_plain(value))}" for name, value in heading.facts(report)] + [""]
    lines += [f"> {md.esc(text)}\n" for text in heading.banners(report)]
    for section in sections():
        body = section.markdown(report)
        if body:
            lines += [f"## {section.TITLE}", "", body, ""]
    return "\n".join(lines).rstrip() + "\n"


def _plain(value: object) -> str:
    """The text of a fact, without its markup."""
    import html as standard
    import re

    return standard.unescape(re.sub(r"<[^>]*>", "", value)) if isinstance(value, Safe) else str(value)
