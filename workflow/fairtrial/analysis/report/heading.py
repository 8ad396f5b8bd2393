"""What stands above the sections: title, counts, isolation line, banners, and the key to reading the page."""

from __future__ import annotations

from fairtrial.analysis.report import words
from fairtrial.analysis.report.html import Safe, details, join, tag
from fairtrial.analysis.report.model import Report


def title(report: Report) -> str:
    """The headline; a run that is not finished says so first, a selection has the title of its manifest."""
    if report.so_far:
        return f"{with_result(report):,} of {words.plural(report.planned, 'attempt')}"
    if all(report.columns["foreign"]) and report.planned:
        return "Imported results"
    if report.chosen:
        return str(report.matrix.get("title") or "Chosen attempts")
    return "Coding-agent benchmark"


def with_result(report: Report) -> int:
    """Attempts that have a result, excluded ones among them."""
    return report.count("done") + report.count("excluded")


def shape(report: Report) -> str:
    """3 harnesses x 2 models x 10 tasks x 5 repetitions, budget 30 minutes per attempt."""
    harnesses = len({arm.key[0] for arm in report.arms})
    parts = [words.plural(harnesses, "harness", "harnesses"), words.plural(len(report.models), "model")]
    parts += [words.plural(len({arm.key[1] for arm in report.arms}), "toolset")] if _several(report, 1) else []
    parts += [words.plural(len(report.tasks), "task"), _repetitions(report)]
    return f"{report.matrix['name']}: " + " \u00d7 ".join(parts) + f", {_budget(report)}"


def _several(report: Report, part: int) -> bool:
    return len({arm.key[part] for arm in report.arms}) > 1


def _repetitions(report: Report) -> str:
    counts = sorted({cell["repetitions"] for cell in report.matrix["cells"]}) or [0]
    return words.plural(counts[0], "repetition") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} repetitions"


def _budget(report: Report) -> str:
    budgets = sorted({w for w in report.columns["wall_budget_seconds"] if w is not None})
    if not budgets:
        return "no budget recorded"
    if len(budgets) == 1:
        return f"budget {words.budget(budgets[0])} per attempt"
    return f"budget {words.budget(budgets[0])} to {words.budget(budgets[-1])} per attempt"


def facts(report: Report) -> list[tuple[str, object]]:
    """The line of counts."""
    excluded, faults = report.count("excluded"), report.count("fault")
    unscored = sum(report.done) - sum(report.scored)
    found: list[tuple[str, object]] = [("Attempts", f"{report.planned:,}"), ("Scored", f"{sum(report.scored):,}")]
    for name, count in (("Excluded", excluded), ("Unscored", unscored), ("Faults", faults),
                        ("Not run", report.count("not_run")),
                        ("Unreadable", report.count("problem")), ("Redone", _redone(report))):  # fmt: skip
        if count:
            found.append((name, tag("a", f"{count:,}", href="#left-out")))
    found += [("Run", period(report)), ("Isolation", isolation(report)), ("Data", _data(report))]
    return found


def _redone(report: Report) -> int:
    return sum(value is not None for value in report.columns["redone"])


def _data(report: Report) -> Safe:
    digest = report.sources.get("attempts.parquet", "")
    return join([tag("code", "attempts.parquet"), f" sha256 {digest[:4]}\u2026{digest[-4:]}"])


def period(report: Report) -> str:
    """First start to last end, UTC."""
    starts = [t for t in report.columns["started_at"] if t is not None]
    ends = [t for t in report.columns["ended_at"] if t is not None]
    if not starts or not ends:
        return "nothing has run"
    first, last = min(starts), max(ends)
    end = last.strftime("%H:%M") if first.date() == last.date() else words.moment(last)
    return f"{words.moment(first)}{words.DASH}{end} UTC"


def isolation(report: Report) -> str:
    """Which isolation was in force, by how many attempts."""
    counts: dict[str, int] = {}
    for row in range(report.planned):
        if report.done[row]:
            key = (
                f"{report.columns['isolation'][row] or 'unknown'}, network {report.columns['netns'][row] or 'unknown'}"
            )
            counts[key] = counts.get(key, 0) + 1
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{key} ({count})" for key, count in sorted(counts.items())) or "nothing has run"


def banners(report: Report) -> list[str]:
    """What a reader must know before any number."""
    from fairtrial.analysis.report.sections.left_out import degraded

    found = []
    simulated = [arm.name for arm in report.arms if arm.simulated]
    if simulated:
        verb = "is" if len(simulated) == 1 else "are"
        found.append(f"Simulated: {words.listing(simulated)} {verb} generated, not measured. "
                     "These numbers show the layout and say nothing about any agent.")  # fmt: skip
    foreign = sorted({name for name in report.columns["foreign"] if name})
    if foreign:
        found.append(f"Foreign: these attempts were measured and judged by {words.listing(foreign)}, not here; what it "
                     "does not record is not measured.")  # fmt: skip
    weak: dict[str, list[str]] = {}
    for arm in report.arms:
        lacking = degraded(report, arm.index)
        if lacking:
            weak.setdefault("; ".join(lacking), []).append(arm.name)
    found += [f"Degraded isolation of {words.listing(names)}: {lacking}." for lacking, names in weak.items()]
    for arm in (one for one in report.arms if one.mixed):
        versions = words.listing(report.card(arm)["harness_versions"])
        found.append(f"Mixed: {arm.name} ran in the harness versions {versions}; its figures pool them.")
    if report.problems:
        count = words.plural(len(report.problems), "record")
        found.append(f"{count} could not be read in full; section 13 and problems.json name them.")
    if report.so_far and with_result(report) < report.planned:
        found.append(
            "This run is not finished. Arms may stand on different tasks; comparisons use the tasks both have."
        )
    else:
        found += _uneven(report)
    if not any(report.scored):
        found.append("No attempt is scored yet.")
    elif not any(report.columns["outcome"][row] == "green" for row in range(report.planned) if report.scored[row]):
        found.append("No attempt passed.")
    return found


def _uneven(report: Report) -> list[str]:
    """Said where arms have scored attempts of different tasks: their rates stand side by side all the same."""
    arms = [arm.index for arm in report.arms if arm.index not in report.calibrating]
    tasks = [{report.task_of[row] for row in report.rows_of[arm] if report.scored[row]} for arm in arms]
    known = [one for one in tasks if one]
    if all(one == known[0] for one in known):
        return []
    few, many = min(map(len, known)), max(map(len, known))
    size = f"{few} to {many}" if few < many else f"{few} each"
    return [f"Arms stand on different tasks ({size}), so that their rates are not of the same tasks; comparisons use "
            "the tasks both have."]  # fmt: skip


def html(report: Report) -> Safe:
    """Everything below the h1."""
    meta = tag("ul", *(tag("li", f"{name} ", tag("b", value)) for name, value in facts(report)), class_="meta")
    notes = [tag("p", text, class_="banner", role="note") for text in banners(report)]
    return join([tag("p", shape(report), class_="sub"), meta, *notes])


KEY = (
    ("Attempt", "one agent program with one model on one task, once. It is green when it ended by itself and every "
     "named check of the hidden verifier passed."),
    ("Pass rate", "the mean over tasks of passes / scored attempts. The thick bar is the 95% interval for exactly "
     "these tasks, the thin one for tasks like these, which is what a claim about the agent needs."),
    ("pass^k", "the chance that k attempts in a row all pass; pass@k, in the tables, that at least one of k does."),
    ("Separated", "the interval that holds for all pairs together leaves out zero and the corrected test agrees. "
     "Anything else has no winner, however far apart two numbers look."),
    ("Rank range", "the places an arm can have, given the separated pairs only."),
    ("Time to green", "an attempt that gives up is never green; it stays on the curve as not green to the end of the "
     "budget."),
    ("A dash", "not measured. It is never zero. Cost per success uses attempts of known cost only; the last column "
     "says how many those are."),
    ("Scored", "attempts with a verdict. Infrastructure faults are no results; excluded and unscored attempts are "
     "listed at the end."),
    ("Efficiency", "cost, time, tokens and effort are compared over green attempts only, cold adoption apart from "
     "warm."),
    ("Marks", "shape and colour are the harness, the fill is the model. Simulated arms carry a mark and are never "
     "compared with measured ones."),
    ("Tables", "every column heading is a button that sorts; wide tables and charts scroll sideways."),
)  # fmt: skip


def key() -> Safe:
    """How to read this."""
    entries = [part for name, text in KEY for part in (tag("dt", name), tag("dd", text))]
    return details("How to read this", tag("dl", *entries))
