"""What must hold for any counts, times and orders."""

from __future__ import annotations

import math

import numpy as np
import pytest
from fairtrial.analysis.stats import paired, rates, repeats, retries, survival, tables
from hypothesis import given, settings
from hypothesis import strategies as st

quick = settings(max_examples=60, deadline=None)

sizes = st.integers(min_value=1, max_value=12)
task = sizes.flatmap(lambda n: st.tuples(st.integers(min_value=0, max_value=n), st.just(n)))
suite = st.lists(task, min_size=1, max_size=14)
SLACK = 1e-12


def split(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(rows)
    return table[:, 0], table[:, 1]


@quick
@given(suite)
def test_intervals_hold_the_estimate(rows: list[tuple[int, int]]) -> None:
    """Both intervals lie in [0, 1], contain their own estimate and have a width."""
    c, n = split(rows)
    pooled, mean = rates.pooled_rate(c, n), rates.pass_rate(c, n)
    these, like = rates.wilson(c.sum(), n.sum()), rates.survey_wilson(c, n)
    assert these is not None and pooled is not None and mean is not None
    assert 0 <= these[0] <= pooled <= these[1] <= 1 and these[0] < these[1]
    if like is not None:
        assert 0 <= like[0] <= mean + SLACK and mean - SLACK <= like[1] <= 1 and like[0] < like[1]


@quick
@given(suite, st.integers(min_value=2, max_value=50))
def test_intervals_shrink(rows: list[tuple[int, int]], factor: int) -> None:
    """The same rate from more attempts, or the same tasks again, gives a narrower interval."""
    c, n = split(rows)
    few, many = rates.wilson(c.sum(), n.sum()), rates.wilson(factor * c.sum(), factor * n.sum())
    assert few is not None and many is not None
    assert many[1] - many[0] < few[1] - few[0]
    like, twice = rates.survey_wilson(c, n), rates.survey_wilson(np.tile(c, 2), np.tile(n, 2))
    if like is not None and twice is not None:
        assert twice[1] - twice[0] < like[1] - like[0]


@quick
@given(suite, st.integers(min_value=1, max_value=12))
def test_pass_hat_k_pass_rate_pass_at_k(rows: list[tuple[int, int]], k: int) -> None:
    """pass^k <= pass rate <= pass@k task by task, null exactly where k > n."""
    c, n = split(rows)
    every, some, rate = repeats.pass_hat_k(n, c, k), repeats.pass_at_k(n, c, k), rates.task_rates(c, n)
    assert np.array_equal(np.isnan(every), n < k) and np.array_equal(np.isnan(some), n < k)
    known = n >= k
    assert np.all(every[known] <= rate[known] + SLACK) and np.all(rate[known] <= some[known] + SLACK)


@quick
@given(suite, st.randoms(use_true_random=False))
def test_order_of_tasks_is_irrelevant(rows: list[tuple[int, int]], random: object) -> None:
    """Shuffling the tasks changes no figure beyond the last bit."""
    other = list(rows)
    random.shuffle(other)  # type: ignore[attr-defined]
    for figure in (rates.pass_rate, rates.pooled_rate, rates.survey_wilson, rates.effective_size, rates.cluster_se):
        left, right = figure(*split(rows)), figure(*split(other))  # type: ignore[operator]
        assert (left is None) == (right is None)
        if left is not None:
            assert np.asarray(left) == pytest.approx(np.asarray(right), rel=1e-12, abs=1e-12)


@quick
@given(suite)
def test_unscored_bounds_enclose_the_rate(rows: list[tuple[int, int]]) -> None:
    """With some attempts unscored, the rate of the scored ones lies between both bounds."""
    c, n = split(rows)
    unscored = np.arange(len(rows)) % 3
    bounds, rate = rates.bounds_with_unscored(c, n, unscored), rates.pass_rate(c, n)
    assert bounds is not None and rate is not None
    assert bounds[0] - SLACK <= rate <= bounds[1] + SLACK


@quick
@given(st.lists(st.tuples(st.integers(1, 60), st.booleans()), min_size=1, max_size=40))
def test_share_green_ends_at_the_pass_rate(rows: list[tuple[int, bool]]) -> None:
    """With give-ups never green, the curve rises to exactly the share of green attempts."""
    seconds, green = np.array([r[0] for r in rows], dtype=float), np.array([r[1] for r in rows])
    t, event = survival.never_green(seconds, green, np.full(len(rows), 60.0))
    curve = survival.km_curve(t, event)
    assert np.all(np.diff(curve.green) >= -SLACK)
    assert (curve.green[-1] if green.any() else 0.0) == pytest.approx(green.mean(), abs=1e-9)
    restricted = survival.restricted_mean(t, event, 60.0)
    assert restricted is not None
    assert restricted.rmst == pytest.approx(t.mean(), abs=1e-9)


def test_giving_up_is_not_censoring() -> None:
    """Ten attempts, three green late, seven gone early: .3 are green, not the .97 censoring would say."""
    seconds = np.array([500.0, 550.0, 590.0] + [20.0] * 7)
    green = np.array([True] * 3 + [False] * 7)
    t, event = survival.never_green(seconds, green, np.full(10, 600.0))
    assert survival.km_curve(t, event).green[-1] == pytest.approx(0.3)
    assert survival.km_curve(seconds, green).green[-1] > 0.95


@quick
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12))
def test_sign_flip_by_lattice_equals_enumeration(steps: list[int]) -> None:
    """The convolved distribution gives the same p as all sign choices written out."""
    d = np.array(steps) / 5
    x = d[d != 0]
    signs = 1 - 2 * ((np.arange(2**x.size)[:, None] >> np.arange(x.size)) & 1)
    want = float(np.mean(np.abs(signs @ x) >= abs(x.sum()) - 1e-9)) if x.size else 1.0
    found = paired.sign_flip(d)
    assert found.method == "exact" and found.p == pytest.approx(want, abs=1e-12)
    assert found.smallest is not None and found.p is not None and found.p >= found.smallest - 1e-15


def test_sign_flip_on_times_without_a_lattice() -> None:
    """Differences that are no multiples of one step are enumerated, many of them drawn with a fixed seed."""
    d = np.random.default_rng(4).normal(0.4, 1.0, size=40)
    few, many = paired.sign_flip(d[:10]), paired.sign_flip(d)
    assert (few.method, many.method) == ("exact", "random")
    assert many == paired.sign_flip(d) and many.p is not None and 0 < many.p < 0.2


@quick
@given(st.lists(st.tuples(task, task), min_size=1, max_size=8))
def test_arms_can_be_swapped(rows: list[tuple[tuple[int, int], tuple[int, int]]]) -> None:
    """Exact test, Cochran-Mantel-Haenszel and Fisher say the same whichever arm comes first."""
    a, m, b, n = (np.array(x) for x in zip(*[(*left, *right) for left, right in rows], strict=True))
    for test in (lambda *x: tables.stratified_exact(*x).p, lambda *x: tables.cmh(*x)[1]):
        left, right = test(a, m, b, n), test(b, n, a, m)
        assert left == right or left == pytest.approx(right, abs=1e-9)
        assert left is None or 0 <= left <= 1 + SLACK
    assert tables.fisher_per_task(a, m, b, n).p == pytest.approx(tables.fisher_per_task(b, n, a, m).p, abs=1e-9)


def test_stratified_exact_falls_back_on_large_counts() -> None:
    """A suite too large to enumerate is tested by the normal form, and says so."""
    rng = np.random.default_rng(1)
    a, b = rng.binomial(2000, 0.5, 100), rng.binomial(2000, 0.5, 100)
    found = tables.stratified_exact(a, 2000, b, 2000)
    assert found.method == "cmh" and found.p is not None and 0.001 < found.p <= 1


@quick
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_q_is_never_below_p(p: list[float]) -> None:
    """Correction only ever raises p, keeps the order and leaves nulls alone."""
    q = tables.benjamini_hochberg([*p, math.nan])
    assert math.isnan(q[-1]) and np.all(q[:-1] >= np.array(p) - SLACK) and np.all(q[:-1] <= 1)


@quick
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=20), st.integers(1, 10))
def test_paired_interval_is_wider_than_zero(d: list[float], n: int) -> None:
    """The pseudo-task interval holds the mean, stays in [-1, 1] and never has zero width inside it."""
    found = paired.pseudo_task_interval(d, n)
    assert found is not None
    assert -1 <= found.low <= found.diff + SLACK and found.diff - SLACK <= found.high <= 1
    assert found.high > found.low


def test_detectable_effect_and_what_beats_it() -> None:
    """T=10, n=5 detects about 24 points; twice the tasks beats twice the repetitions."""
    base = paired.minimum_detectable_effect(10, 5)
    tasks, attempts = paired.minimum_detectable_effect(20, 5), paired.minimum_detectable_effect(10, 10)
    assert base == pytest.approx(0.24, abs=0.005)
    assert tasks is not None and attempts is not None and tasks < attempts < 0.24
    assert paired.minimum_detectable_effect(1, 5) is None


def test_a_cutoff_saves_only_when_it_does() -> None:
    """Quick greens beside long failures: a saving with a bound above 0; equal times: no such bound."""
    rng = np.random.default_rng(0)
    green = rng.random(200) < 0.5
    spent = np.where(green, rng.uniform(20, 40, 200), 600.0)
    found = retries.crossfitted_saving(spent, green)
    assert found is not None and found.low > 300
    even = retries.crossfitted_saving(rng.exponential(100, 200), np.ones(200, dtype=bool))
    assert even is None or even.low <= 0
    assert retries.crossfitted_saving(spent[:5], np.array([True, False, False, False, False])) is None
    mean = retries.mean_saving([found, found])
    assert mean is not None and mean.low > found.low
    assert retries.mean_saving([]) is None


def test_change_sets_too_many_to_pair() -> None:
    """Thousands of different changes are compared through an even selection, equal ones by their weight."""
    alike = repeats.approach_similarity([{"a", "b"}] * 1000)
    assert alike == (1.0, 499500, 0)
    many = repeats.approach_similarity([{i, "common"} for i in range(1000)])
    assert many.value == pytest.approx(1 / 3) and many.pairs == 200 * 199 // 2
    mixed = repeats.approach_similarity([set(), set(), {"a"}])
    assert mixed == (0.0, 2, 1)


def test_nothing_known_is_null() -> None:
    """Empty inputs give None, not 0 and not an exception."""
    assert rates.pass_rate([], []) is None and rates.pooled_rate([0], [0]) is None
    assert rates.survey_wilson([1], [2]) is None and rates.cluster_t([1], [2]) is None
    assert rates.task_bootstrap([1], [2]) is None and repeats.variance_components([1, 1], [0, 1]) is None
    assert paired.paired_t([0.1]) is None and paired.pseudo_task_interval([0.1], 5) is None
    assert paired.paired_bootstrap([0.1]) is None and paired.sign_flip([]).p is None
    assert survival.km_median([], []) is None and survival.restricted_mean([], [], 60) is None
    assert survival.logrank([], [], []).p is None and tables.mcnemar_exact(0, 0) is None
    assert tables.stratified_exact([0], [0], [1], [1]).p is None and tables.cmh([1], [1], [1], [1]) == (None, None)
    assert retries.restart_expected_time([], [], 60).tolist() == [[60.0, 0.0, math.inf]]


def test_one_missing_attempt_does_not_widen_everything() -> None:
    """The n of the pseudo-tasks is the usual number of attempts, rounded down, of the arm with fewer."""
    assert paired.attempts_per_task([5] * 9 + [1], [5] * 10) == 4
    assert paired.attempts_per_task([5, 5], [3, 4]) == 3 and paired.attempts_per_task([1], [0.5]) == 1
