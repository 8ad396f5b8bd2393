"""2: one row per arm, its interval bars and how much of its cost is known."""

from __future__ import annotations

from typing import Any

from fairtrial.analysis.report import md, svg, words
from fairtrial.analysis.report.html import Cell, Safe, details, join, lead, pill, table, tag
from fairtrial.analysis.report.model import Arm, Report

ORDER = 2
TITLE = "Scorecard"
QUESTION = "How do the arms stand?"
BAR = 128


def html(report: Report) -> str:
    """The main table, and the cuts by suite, language and tag to unfold."""
    heads: list[object] = [
        "Configuration", "Rank range", "Pass rate", "95% interval", power(report), "Flip rate", "Flaky tasks",
        "Median to green", "Mean to green, capped", "Cost per success", "Cost known",
    ]  # fmt: skip
    rows = [_row(report, arm) for arm in report.ranked]
    parts = [lead(explanation(report)), table(heads, rows, "Scorecard", numeric=(1, 2, 4, 5, 6, 7, 8, 9, 10))]
    parts += [_cut(report, name, key) for name, key in (("suite", "by_suite"), ("language", "by_language"),
                                                        ("tag", "by_tag"))]  # fmt: skip
    return join(parts)


def power(report: Report) -> Safe:
    """pass^k with the k in use."""
    return join(["pass", tag("sup", report.k)])


def explanation(report: Report) -> str:
    """What the columns rest on."""
    pairs = sum(group["pairs"] for group in report.scorecard["rank"])
    ranks = f"Rank range counts only differences that survive correction for {_all(pairs)}. "
    order = "The order of the rows is not a ranking. "
    return (ranks if pairs else "") + order + "A dash means not measured, never zero."


def _all(pairs: int) -> str:
    return f"all {pairs:,} pairs" if pairs > 1 else "the one pair"


def label(arm: Arm) -> Safe:
    """Mark, harness, model; simulated arms say so."""
    marks = [name for name, holds in (("simulated", arm.simulated), ("mixed", arm.mixed)) if holds]
    shown = join([join([" ", pill(name, "warn")]) for name in marks])
    return join([svg.icon(arm), tag("b", arm.label), " ", tag("span", arm.model, class_="quiet"), shown])


def rank(card: dict[str, Any]) -> str:
    """1-4, or a dash for arms that are not compared."""
    place = card["rank"]
    if not place or place["of"] < 2:
        return words.DASH
    return str(place["low"]) if place["low"] == place["high"] else f"{place['low']}{words.DASH}{place['high']}"


def median(card: dict[str, Any]) -> str:
    """The median, or that half were not green within the budget."""
    if card["median_seconds_to_green"] is not None or not card["scored"]:
        return words.duration(card["median_seconds_to_green"])
    return f"> {words.budget(card['budget_seconds'])}" if card["budget_seconds"] else words.DASH


def hat(report: Report, card: dict[str, Any]) -> dict[str, Any]:
    """pass^k of the k in use: {value, tasks, of}."""
    found: dict[str, Any] = card["pass_hat_k"][str(report.k)]
    return found


def every(found: dict[str, Any]) -> str:
    """pass^k, and of how many tasks where some have fewer than k scored attempts."""
    partial = f" ({found['tasks']} of {found['of']} tasks)" if found["tasks"] < found["of"] else ""
    return words.percent(found["value"]) + partial


def _repeated(report: Report, arm: Arm) -> int:
    """Tasks with two scored attempts or more: with one, a flip cannot show."""
    cells = (rows for (index, _), rows in report.cells.items() if index == arm.index)
    return sum(sum(report.scored[row] for row in rows) > 1 for rows in cells)


def _row(report: Report, arm: Arm) -> list[object]:
    card = report.card(arm)
    power_k = hat(report, card)
    counted = f"{card['passes']}/{card['scored']}"
    flaky = words.DASH if card["flaky_tasks"] is None else f"{card['flaky_tasks']}/{_repeated(report, arm)}"
    return [
        Cell(label(arm), arm.name),
        Cell(rank(card), card["rank"]["low"] if card["rank"] else None),
        Cell(join([words.percent(card["pass_rate"]), " ", tag("span", counted, class_="quiet")]), card["pass_rate"]),
        Cell(_interval(arm, card), card["pass_rate"]),
        Cell(every(power_k), power_k["value"]),
        Cell(words.percent(card["flip_rate"]), card["flip_rate"]),
        Cell(flaky, card["flaky_share"]),
        Cell(median(card), card["median_seconds_to_green"]),
        Cell(words.duration(card["mean_seconds_to_green"]), card["mean_seconds_to_green"]),
        Cell(words.dollars(card["cost_per_success_usd"]), card["cost_per_success_usd"]),
        _known(report, arm, card),
    ]  # fmt: skip


def known_cost(report: Report, arm: Arm, card: dict[str, Any]) -> str:
    """The share of scored attempts with a known cost; an arm that costs nothing and says so nowhere is free."""
    if arm.index in report.free and not card["cost_known_share"]:
        return "free"
    return words.percent(card["cost_known_share"]) if card["scored"] else words.DASH


def _known(report: Report, arm: Arm, card: dict[str, Any]) -> Cell:
    share, shown = card["cost_known_share"], known_cost(report, arm, card)
    lacks = share is not None and share < 1 and arm.index not in report.free
    return Cell(pill(shown, "warn") if lacks else shown, share)


def span(card: dict[str, Any]) -> tuple[str, list[float] | None]:
    """Which interval stands in the row: tasks like these, else these tasks."""
    if card["like_low"] is not None:
        return "like", [card["like_low"], card["like_high"]]
    if card["these_low"] is not None:
        return "these", [card["these_low"], card["these_high"]]
    return "", None


def _interval(arm: Arm, card: dict[str, Any]) -> Safe:
    kind, interval = span(card)
    if interval is None:
        return tag("span", words.DASH)
    at = svg.Linear(0, 1, 6, BAR - 6)
    parts: list[object] = [svg.line(at(0), 9, at(1), 9, "ax")]
    if card["these_low"] is not None:
        parts.append(svg.line(at(card["these_low"]), 9, at(card["these_high"]), 9, f"l w c{arm.colour}"))
    if kind == "like":
        parts.append(svg.line(at(interval[0]), 9, at(interval[1]), 9, f"l c{arm.colour}"))
    parts.append(svg.mark(arm, at(card["pass_rate"]), 9, 4.5))
    bar = tag("svg", *parts, class_="bar", width=BAR, height=18, viewBox=f"0 0 {BAR} 18", aria_hidden="true")
    note = "" if kind == "like" else " (these tasks)"
    return join([bar, " ", tag("span", words.bounds(interval) + note, class_="quiet")])


def _cut(report: Report, name: str, key: str) -> Safe:
    rows = report.scorecard[key]
    if len({row[name] for row in rows}) < 2:
        return Safe("")
    heads = [name.capitalize(), "Configuration", "Pass rate", "These tasks", "Tasks like these", power(report),
             "Median to green", "Cost per success"]  # fmt: skip
    body = []
    for row in rows:
        right, money = row["correctness"], row["time_cost"]
        power_k = right["pass_hat_k"][str(report.k)]
        arm = report.by_id[row["arm"]]
        body.append([
            row[name], Cell(label(arm), arm.name), Cell(words.percent(right["pass_rate"]), right["pass_rate"]),
            words.bounds((right["these_low"], right["these_high"])),
            words.bounds((right["like_low"], right["like_high"])),
            Cell(every(power_k), power_k["value"]),
            Cell(median(money | row["counts"]), money["median_seconds_to_green"]),
            Cell(words.dollars(money["cost_per_success_usd"]), money["cost_per_success_usd"]),
        ])  # fmt: skip
    return details(f"By {name}", table(heads, body, f"Scorecard by {name}", numeric=range(2, 8)))


def markdown(report: Report) -> str:
    """The main table."""
    heads = ["Configuration", "Rank", "Pass rate", "Passes", "These tasks", "Tasks like these", f"pass^{report.k}",
             "Flip rate", "Median to green", "Cost per success", "Cost known"]  # fmt: skip
    rows = []
    for arm in report.ranked:
        card = report.card(arm)
        rows.append([
            arm.name + " (simulated)" * (arm.simulated and "(simulated)" not in arm.name) + " (mixed)" * arm.mixed,
            rank(card),
            words.percent(card["pass_rate"]), f"{card['passes']}/{card['scored']}",
            words.bounds((card["these_low"], card["these_high"])), words.bounds((card["like_low"], card["like_high"])),
            every(hat(report, card)), words.percent(card["flip_rate"]), median(card),
            words.dollars(card["cost_per_success_usd"]), known_cost(report, arm, card),
        ])  # fmt: skip
    return explanation(report) + "\n\n" + md.table(heads, rows)
