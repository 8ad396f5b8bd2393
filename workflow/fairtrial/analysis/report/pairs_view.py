"""The comparisons of compare.all_pairs as the sections show them: one flat entry a pair, in plain words."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
_KINDS = {"harness": "harnesses", "model": "models", "toolset": "toolsets"}


def view(raw: Json) -> Json:
    """{"pairs": [entry], "families": ["6 pairs of harnesses", ...], "detectable": of the table | null, "notes", "raw"}.

    Entry: a, b (names), where (" with m-large"), difference, low, high, sign_flip_q, exact_q, separated, time_q,
    time_difference (seconds), time_words, cost_ratio, minimum_detectable, confounded (text or ""), notes, axis.
    """
    tables = raw.get("tables", [])
    several = {axis: len({pair[s][axis] for t in tables for pair in t["pairs"] for s in "ab"}) > 1
               for axis in ("harness", "model", "toolset", "adoption")}  # fmt: skip
    pairs = [_entry(pair, table, several) for table in tables for pair in table["pairs"]]
    families = [f"{len(t['pairs'])} {'pair' if len(t['pairs']) == 1 else 'pairs'} of {_KINDS[t['axis']]}"
                f"{' (simulated)' if t['simulated'] else ''}" for t in tables]  # fmt: skip
    planned = [t["detectable"] for t in tables if t["detectable"]["planned"] is not None]
    return {
        "pairs": pairs,
        "families": families,
        "detectable": max(planned, key=lambda one: one["planned"], default=None),
        "notes": raw.get("notes", []),
        "raw": raw,
    }


def _entry(pair: Json, table: Json, several: dict[str, bool]) -> Json:
    axis, rate, time = table["axis"], pair["pass_rate"], pair["time"]
    return {
        "axis": axis, "a": pair["a"][axis], "b": pair["b"][axis], "where": _where(pair, table, several),
        "difference": rate["difference"], "low": rate["low"], "high": rate["high"],
        "these_low": rate["these_low"], "these_high": rate["these_high"],
        "sign_flip_q": rate["q"], "exact_q": rate["these_q"], "separated": pair["reading"] == "separated",
        "separated_here": pair["reading_these_tasks"] == "separated",
        "time_q": time["q"], "time_difference": time["difference_seconds"], "time_words": _sooner(pair, axis),
        "cost_ratio": pair["cost"]["ratio"], "minimum_detectable": pair["detectable"]["planned"],
        "confounded": "; ".join(pair["changed"]) if pair["confounded"] else "", "notes": pair["notes"],
        "arms": (pair["a"]["arm"], pair["b"]["arm"]),
    }  # fmt: skip


def _where(pair: Json, table: Json, several: dict[str, bool]) -> str:
    side, axis = pair["a"], table["axis"]
    words = []
    if axis != "harness":
        words.append(f"in {side['harness']}")
    if axis != "model" and (several["model"] or axis == "toolset"):
        words.append(f"with {side['model']}")
    if axis != "toolset" and several["toolset"]:
        words.append(f"with {side['toolset']}")
    if several["adoption"]:
        words.append(side["adoption"])
    if side["simulated"]:
        words.append("(simulated)")
    return "".join(f" {word}" for word in words)


def _sooner(pair: Json, axis: str) -> str:
    time = pair["time"]
    if time["reading"] != "separated":
        return "not separated" if time["q"] is not None else ""
    if time["sooner"] is None:
        return "curves cross"
    first = time["sooner"] == pair["a"]["label"]
    return f"{pair['a' if first else 'b'][axis]} sooner"
