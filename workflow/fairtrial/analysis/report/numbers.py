"""report.json: every number of the page, and digests of the sources it was measured and computed with."""

from __future__ import annotations

from typing import Any

from fairtrial.analysis.report import curves, heading
from fairtrial.analysis.report.model import Report

Json = dict[str, Any]


def record(report: Report) -> Json:
    """The whole record; NaN never occurs, null is not measured."""
    from fairtrial import __version__
    from fairtrial.analysis.report.sections import left_out, measured, rules

    return {
        "schema_version": 1,
        "fairtrial": __version__,
        "title": heading.title(report),
        "experiment": report.matrix["name"],
        "matrix_sha256": report.matrix["digest"],
        "so_far": report.so_far,
        "simulated": report.simulated,
        "attempts": _counts(report),
        "period_utc": heading.period(report),
        "isolation": heading.isolation(report),
        "banners": heading.banners(report),
        "sources": report.sources,
        "measured_with": _measured_with(),
        "scorecard": report.scorecard,
        "comparisons": report.pairs["raw"],
        "green_by_time": [_curve(report, arm) for arm in report.ranked],
        "rules": {name: _by_arm(report, ("kept", "checked"), rules.counts, rule) for name, rule in rules.RULES},
        "coverage": {
            name: _by_arm(report, ("known", "possible"), measured.coverage, name, among)
            for name, among in _fields(measured)
        },
        "left_out": [
            {"attempt": name, "kind": kind, "text": text} for _, name, kind, text in left_out.left_out(report)
        ],
        "problems": report.problems,
    }  # fmt: skip


def _by_arm(report: Report, names: tuple[str, str], count: Any, *how: Any) -> Json:
    return {arm.id: dict(zip(names, count(report, [arm.index], *how), strict=True)) for arm in report.arms}


def _fields(measured: Any) -> list[tuple[str, str]]:
    return [(name, among) for _, name, among in measured.MAIN] + [(name, "done") for name in measured.REST]


def _counts(report: Report) -> Json:
    status = {name: report.count(name) for name in ("done", "fault", "not_run", "excluded", "problem")}
    unscored = sum(report.done) - sum(report.scored)
    return {"planned": report.planned, "scored": sum(report.scored), "unscored": unscored, **status}


def _curve(report: Report, arm: Any) -> Json:
    high = max([report.wall_budget, *report.values(arm, "seconds_to_green")]) or 1.0
    found = curves.curve(report, arm, "seconds_to_green", high / 3000, high)
    return {
        "arm": arm.id,
        "attempts": found.attempts,
        "steps": [{"seconds": t, "share": s} for t, s in found.steps],
        "band": [{"seconds": t, "low": low, "high": high_} for t, low, high_ in found.band],
    }


def _measured_with() -> Json:
    """sha256 over the sources of each part that measured or computed, by file name and content."""
    import hashlib
    from pathlib import Path

    package = Path(__file__).resolve().parent.parent.parent
    found = {}
    for part in ("capture", "instruments", "grading", "harnesses", "wire", "analysis"):
        digest = hashlib.sha256()
        for path in sorted((package / part).rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
        found[part] = digest.hexdigest()
    return found
