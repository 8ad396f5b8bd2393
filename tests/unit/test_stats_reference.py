"""Every figure of the reference file, and the two open cases about proportions, against analysis/stats."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fairtrial.analysis.stats import paired, rates, repeats, retries, spend, survival, tables

DATA = Path(__file__).parents[1] / "data"
CASES = json.loads((DATA / "statistics-reference.json").read_text())["cases"]
Inputs = dict[str, Any]


def number(value: Any) -> float | None:
    """NaN is the arrays' null."""
    return None if value is None or math.isnan(float(value)) else float(value)


def values(rows: list[Any]) -> list[float]:
    return [math.nan if x is None else x for x in rows]


def counts(i: Inputs) -> tuple[list[int], list[int]]:
    return i["c"], [i["n"]] * len(i["c"])


def difference(i: Inputs) -> Any:
    if "d" in i:
        return i["d"]
    return (np.array(i["A"]) - np.array(i["B"])) / i["n"]


def both(i: Inputs) -> tuple[Any, ...]:
    return i["A"], i["n"], i["B"], i["n"]


def times(i: Inputs) -> tuple[list[float], list[int], list[int], list[int]]:
    if "rows" not in i:
        size = len(i["t"])
        return i["t"], i["event"], i.get("g", [0] * size), [0] * size
    rows = [r for r in i["rows"] if i.get("group") in (None, r["g"])]
    return [r["t"] for r in rows], [r["e"] for r in rows], [r["g"] for r in rows], [int(r["task"][1:]) for r in rows]


def cv(i: Inputs) -> dict[str, Any]:
    task = [code for code, row in enumerate(i["values"]) for _ in row]
    flat = values([x for row in i["values"] for x in row])
    per_task = repeats.cv_per_task(flat, task, len(i["values"]))
    mean = repeats.mean_cv(flat, task, len(i["values"]))
    return {"per_task": [number(x) for x in per_task], "mean": mean.value, "n_tasks_used": mean.tasks}


def components(i: Inputs) -> dict[str, Any]:
    found = repeats.variance_components(*reversed(counts(i)))
    assert found is not None
    return found._asdict()


def student(i: Inputs) -> dict[str, Any]:
    found = paired.paired_t(difference(i))
    assert found is not None
    return {"diff": found.diff, "se": found.se, "lo": found.low, "hi": found.high, "p": found.p}


def per_task(i: Inputs) -> dict[str, Any]:
    p, q = tables.fisher_per_task(*both(i))
    return {"p_min": p.min(), "q_min": q.min(), "n_sig": int((q < 0.05).sum())}


def curve(i: Inputs) -> dict[str, Any]:
    found = survival.km_curve(*times(i)[:2])
    return {"t": list(found.t), "S": list(found.survival)}


def mean_time(i: Inputs) -> dict[str, Any]:
    found = survival.restricted_mean(*times(i)[:2], i["tau"])
    assert found is not None
    return found._asdict()


def rank_test(i: Inputs, stratified: bool) -> dict[str, Any]:
    t, event, group, task = times(i)
    found = survival.logrank(t, event, group, task if stratified else None)
    return {"O": found.observed, "E": found.expected, "chi2": found.chi2, "p": found.p}


DISPATCH: dict[str, Callable[[Inputs], Any]] = {
    "pass_at_k": lambda i: number(repeats.pass_at_k(i["n"], i["c"], i["k"])),
    "pass_hat_k": lambda i: number(repeats.pass_hat_k(i["n"], i["c"], i["k"])),
    "wilson_ci95": lambda i: rates.wilson(i["c"], i["n"]) or [None, None],
    "flip_rate": lambda i: number(repeats.flip_rate(i["n"], i["c"])),
    "survey_wilson_ci95": lambda i: rates.survey_wilson(*counts(i)),
    "sign_flip_p": lambda i: paired.sign_flip(difference(i)).p,
    "fisher_exact_p": lambda i: tables.fisher_p(*i["table"][0], *i["table"][1]),
    "cost_per_success": lambda i: spend.cost_per_success(values(i["cost"]), i["passed"]),
    "restricted_mean_time_to_green": mean_time,
    "suite_pass_hat_k": lambda i: repeats.mean_pass_hat_k(i["n"], i["c"], i["k"]).value,
    "suite_pass_at_k": lambda i: repeats.mean_pass_at_k(i["n"], i["c"], i["k"]).value,
    "approach_similarity": lambda i: repeats.approach_similarity(i["changed_lines"]).value,
    "km_median": lambda i: survival.km_median(*times(i)[:2]),
    "variance_components": components,
    "km_curve": curve,
    "logrank_stratified_by_task": lambda i: rank_test(i, True),
    "logrank_unstratified": lambda i: rank_test(i, False),
    "pass_rate_macro": lambda i: rates.pass_rate(*counts(i)),
    "suite_flip_rate": lambda i: repeats.mean_flip_rate(i["n"], i["c"]).value,
    "flaky_task_share": lambda i: repeats.flaky_share(i["n"], i["c"]).value,
    "cluster_se": lambda i: rates.cluster_se(*counts(i)),
    "cluster_se_cr0": lambda i: rates.cluster_se(*counts(i), correction=False),
    "cluster_t_ci95": lambda i: rates.cluster_t(*counts(i)),
    "task_bootstrap_ci95": lambda i: rates.task_bootstrap(*counts(i), draws=i["reps"], seed=i["seed"]),
    "paired_task_bootstrap_diff_ci95": lambda i: paired.paired_bootstrap(difference(i), draws=20_000),
    "paired_task_t": student,
    "stratified_exact_p": lambda i: tables.stratified_exact(*both(i)).p,
    "cmh_no_continuity": lambda i: dict(zip(("chi2", "p"), tables.cmh(*both(i)), strict=True)),
    "benjamini_hochberg": lambda i: list(tables.benjamini_hochberg(i["p"])),
    "fisher_per_task_bh": per_task,
    "mcnemar_exact_p": lambda i: tables.mcnemar_exact(i["b"], i["c"]),
    "cv_within_task": cv,
    "restart_expected_time": lambda i: retries.restart_expected_time(i["t"], i["event"], i["tau"]).tolist(),
    "luby_sequence": lambda i: retries.luby_sequence(i["n"]),
    "p_green_within_k_attempts": lambda i: retries.green_within(i["p"], i["k"]),
    "minimum_detectable_effect": lambda i: paired.minimum_detectable_effect(
        i["T"], i["n"], i["s2w_a"], i["s2w_b"], i["s2_int"]
    ),
}


def agree(got: Any, want: Any, tolerance: float) -> None:
    if isinstance(want, dict):
        for key, value in want.items():
            agree(got[key], value, tolerance)
    elif isinstance(want, list):
        assert len(got) == len(want)
        for left, right in zip(got, want, strict=True):
            agree(left, right, tolerance)
    elif want is None:
        assert got is None
    else:
        assert got == pytest.approx(want, abs=tolerance, rel=0)


def test_all_reference_cases_are_run() -> None:
    """The reference file holds 173 cases and each has a function to go to."""
    assert len(CASES) == 173
    assert {c["metric"] for c in CASES} == set(DISPATCH)


@pytest.mark.parametrize("case", CASES, ids=[c["id"] for c in CASES])
def test_reference(case: Inputs) -> None:
    """The figure equals the independently computed one within its tolerance."""
    agree(DISPATCH[case["metric"]](case["inputs"]), case["expected"], case["abs_tol"])


def test_wilson_ends() -> None:
    """Wilson bounds are exact at the ends, never outside [0, 1], never -0.0, and absent for 0/0."""
    for row in json.loads((DATA / "proportions" / "wilson.json").read_text())["rows"]:
        bounds = rates.wilson(row["k"], row["n"])
        agree(bounds or (None, None), [row["low"], row["high"]], 1e-9)
        if bounds is not None:
            assert 0 <= bounds[0] <= bounds[1] <= 1
            assert math.copysign(1, bounds[0]) == 1
            assert row["k"] > 0 or bounds[0] == 0
            assert row["k"] < row["n"] or bounds[1] == 1


def test_pass_at_k_with_too_few_attempts() -> None:
    """n < k is null and never 1.0; the mean is over the tasks that allow k, and says how many."""
    case = json.loads((DATA / "proportions" / "pass-at-k.json").read_text())
    n, c = ([row[key] for row in case["per_task"]] for key in ("n", "c"))
    for name, mean in case["mean"].items():
        k = int(name.partition("@")[2])
        agree([number(x) for x in repeats.pass_at_k(n, c, k)], [row[name] for row in case["per_task"]], 1e-12)
        assert repeats.mean_pass_at_k(n, c, k) == (pytest.approx(mean["value"], abs=1e-12), mean["tasks"])
