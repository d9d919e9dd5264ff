"""Intervals, tests, corrections and ranks: oracles, second derivations, degenerate data."""

import itertools
import time
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from attrial import stats
from attrial.masks import Bools

numbers = st.floats(-100, 100, allow_subnormal=False)
whole = st.lists(st.integers(-5, 5), min_size=0, max_size=9)
probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def slow_sign_flip(differences: list[int]) -> float:
    """All 2^n signs one by one, in whole numbers."""
    told = abs(sum(differences))
    flips = list(itertools.product((1, -1), repeat=len(differences)))
    reached = [abs(sum(s * d for s, d in zip(f, differences, strict=True))) >= told for f in flips]
    return float(Fraction(sum(reached), len(flips)))


def slow_holm(p: list[float]) -> list[float]:
    """The textbook's loop: the k-th smallest times (m - k), never falling."""
    adjusted, highest = [0.0] * len(p), 0.0
    for k, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        highest = max(highest, (len(p) - k) * p[i])
        adjusted[i] = min(1.0, highest)
    return adjusted


def test_oracle_s1() -> None:
    assert stats.sign_flip([0.3, 1.0, 0.2, 5.0, 0.7], seed=0) == 0.0625
    assert stats.sign_flip(stats.paired([0.5, 0.1, 0.9], [0.5, 0.1, 0.9]), seed=0) == 1.0
    assert stats.bootstrap_mean(np.zeros(5), seed=0) == (0.0, 0.0)
    assert stats.bootstrap_mean(np.full(7, 0.1), seed=0) == (0.1, 0.1)


def test_oracle_s4() -> None:
    np.testing.assert_allclose(stats.holm([0.01, 0.02, 0.03]), [0.03, 0.04, 0.04], atol=1e-12)
    np.testing.assert_allclose(
        stats.benjamini_hochberg([0.01, 0.02, 0.03]), [0.03, 0.03, 0.03], atol=1e-12
    )


@given(whole)
def test_exact_sign_flips_equal_the_enumeration(differences: list[int]) -> None:
    assert stats.sign_flip(differences, seed=0) == slow_sign_flip(differences)


def test_sign_flips_that_tie_up_to_rounding_count() -> None:
    """0.1 + 0.2 - 0.3 is not 0 in floats; the same data in whole numbers say what is right."""
    differences = [0.1, 0.2, -0.3, 0.6, 0.7]
    assert stats.sign_flip(differences, seed=0) == slow_sign_flip([1, 2, -3, 6, 7])


def test_monte_carlo_sign_flip_is_near_the_exact_one() -> None:
    rng = np.random.default_rng(1)
    for shift in (0.0, 0.3, 0.6):
        differences = rng.normal(shift, 1, 16)
        signs = 1 - 2 * (np.arange(2**16)[:, None] >> np.arange(16) & 1)
        exact = float(np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12))
        drawn = stats.sign_flip(differences, resamples=10_000, seed=0)
        assert abs(drawn - exact) < 4 * np.sqrt(exact * (1 - exact) / 10_000) + 1e-4


def test_monte_carlo_sign_flip_never_says_zero() -> None:
    assert stats.sign_flip(np.ones(40), resamples=999, seed=0) == 1 / 1000


def test_sign_flip_agrees_with_scipy() -> None:
    differences = np.random.default_rng(3).normal(0.4, 1, 11)
    theirs = scipy.stats.permutation_test(
        (differences,), lambda d: d.sum(), permutation_type="samples", n_resamples=2**11
    )
    assert stats.sign_flip(differences, seed=0) == pytest.approx(theirs.pvalue, abs=1e-12)


@given(st.lists(numbers, min_size=1, max_size=30))
@settings(max_examples=30)
def test_sign_flip_is_a_probability_and_two_sided(differences: list[float]) -> None:
    p = stats.sign_flip(differences, resamples=199, seed=0)
    assert 0 < p <= 1
    assert p == stats.sign_flip([-d for d in differences], resamples=199, seed=0)


def test_large_samples_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks only bound memory: the stream of draws is the same in one piece or in many."""
    values = np.random.default_rng(0).normal(0.2, 1, 40)
    whole = stats.bootstrap_mean(values, resamples=500, seed=5)
    p = stats.sign_flip(values, resamples=500, seed=5)
    monkeypatch.setattr("attrial.stats.draws.BLOCK", 1_000)
    assert stats.bootstrap_mean(values, resamples=500, seed=5) == whole
    assert stats.sign_flip(values, resamples=500, seed=5) == p


def slow_bootstrap(
    values: npt.NDArray[np.float64], resamples: int, seed: int
) -> tuple[float, float]:
    """One resample at a time, its mean by a sum, the quantile by the sorted list."""
    rng = np.random.default_rng(seed)
    means = []
    for _ in range(resamples):
        drawn = [values[rng.integers(len(values))] for _ in values]
        means.append(sum(drawn) / len(drawn))
    means.sort()

    def at(q: float) -> float:
        spot = q * (resamples - 1)
        below = int(spot)
        above = min(below + 1, resamples - 1)
        return float(means[below] + (spot - below) * (means[above] - means[below]))

    return at(0.025), at(0.975)


def test_bootstrap_equals_a_loop() -> None:
    values = np.random.default_rng(2).exponential(size=16)
    fast = stats.bootstrap_mean(values, resamples=400, seed=7)
    np.testing.assert_allclose(fast, slow_bootstrap(values, 400, 7), rtol=1e-12)


def test_bootstrap_agrees_with_scipy_and_covers() -> None:
    values = np.random.default_rng(4).normal(3, 2, 50)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=10_000, rng=np.random.default_rng(0)
    ).confidence_interval
    ours = stats.bootstrap_mean(values, seed=0)
    np.testing.assert_allclose(ours, (theirs.low, theirs.high), atol=0.03)
    assert ours[0] < values.mean() < ours[1]


def test_bootstrap_is_paired() -> None:
    """A constant shift of all examples shifts the interval: the same examples are drawn."""
    values = np.random.default_rng(4).normal(0, 1, 20)
    low, high = stats.bootstrap_mean(values, seed=1)
    np.testing.assert_allclose(stats.bootstrap_mean(values + 2, seed=1), (low + 2, high + 2))
    assert stats.bootstrap_mean(values, seed=2) != (low, high)


@given(st.lists(numbers, min_size=1, max_size=20), st.integers(0, 5))
@settings(max_examples=40)
def test_bootstrap_stays_within_the_values(values: list[float], seed: int) -> None:
    low, high = stats.bootstrap_mean(values, resamples=50, seed=seed)
    assert min(values) <= low <= high <= max(values)


def test_one_value_gives_a_point() -> None:
    assert stats.bootstrap_mean([0.7], seed=0) == (0.7, 0.7)


@pytest.mark.parametrize("values", [[], [1.0, np.nan], [np.inf], [[1.0], [2.0]]])
def test_bootstrap_refuses_what_it_cannot_do(values: list[float]) -> None:
    with pytest.raises(ValueError, match="finite values"):
        stats.bootstrap_mean(values, seed=0)


def test_sign_flip_refuses_nan() -> None:
    with pytest.raises(ValueError, match="finite"):
        stats.sign_flip([1.0, np.nan], seed=0)


def test_paired_drops_undefined_and_rounding() -> None:
    a, b = [1.0, np.nan, 3.0, 0.1 + 0.2, 1e9], [0.0, 1.0, np.nan, 0.3, 1e9 + 1e-7]
    assert stats.paired(a, b).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("m", [2, 3, 8])
def test_least_examples_are_just_enough(m: int) -> None:
    """Methods of clear steps are told apart with as many examples, with one fewer none is."""
    n = stats.least_examples(m * (m - 1) // 2)
    values = np.arange(m)[:, None] + 0.01 * np.arange(n)[None, :] ** 2 * np.arange(m)[:, None]
    assert stats.compare(values, higher=True, seed=0).better.any()
    assert not stats.compare(values[:, 1:], higher=True, seed=0).better.any()


@given(probabilities)
@settings(max_examples=40)
def test_corrections_equal_the_loop_and_statsmodels(p: list[float]) -> None:
    np.testing.assert_allclose(stats.holm(p), slow_holm(p), atol=1e-12)
    np.testing.assert_allclose(stats.holm(p), multipletests(p, method="holm")[1], atol=1e-12)
    theirs = multipletests(p, method="fdr_bh")[1]
    np.testing.assert_allclose(stats.benjamini_hochberg(p), theirs, atol=1e-12)


def test_no_comparison_no_correction() -> None:
    assert stats.holm([]).tolist() == []
    assert stats.benjamini_hochberg([]).tolist() == []


def test_compare_ranks_in_the_metrics_direction() -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=20)
    values = np.stack([base, base + 1 + rng.random(20), base + 1 + rng.random(20)])
    higher = stats.compare(values, higher=True, seed=0)
    assert higher.better.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 0]]
    assert stats.rank_intervals(higher.better) == [(3, 3), (1, 2), (1, 2)]
    lower = stats.compare(values, higher=False, seed=0)
    assert stats.rank_intervals(lower.better) == [(1, 1), (2, 3), (2, 3)]
    np.testing.assert_array_equal(higher.p, higher.p.T)


def test_compare_equals_its_parts() -> None:
    """Every pair alone: common examples, its own test, then Holm over all of them by hand."""
    rng = np.random.default_rng(5)
    values = rng.normal(np.arange(4)[:, None] * 0.7, 1, (4, 12))
    values[0, 3] = values[2, 5] = values[2, 6] = np.nan
    found = stats.compare(values, higher=True, seed=3)
    pairs = list(itertools.combinations(range(4), 2))
    raw, common = [], []
    for i, j in pairs:
        both = [k for k in range(12) if not np.isnan(values[i, k] + values[j, k])]
        common.append(len(both))
        raw.append(stats.sign_flip([values[i, k] - values[j, k] for k in both], seed=3))
    for (i, j), p, n in zip(pairs, slow_holm(raw), common, strict=True):
        assert found.p[i, j] == pytest.approx(p, abs=1e-12)
        assert found.n[i, j] == n


def test_identical_and_single_methods() -> None:
    same = stats.compare(np.ones((3, 10)), higher=True, seed=0)
    assert not same.better.any()
    assert (same.p == 1).all()
    assert stats.rank_intervals(same.better) == [(1, 3)] * 3
    assert stats.tied_groups(same.better) == ["a", "a", "a"]
    assert stats.rank_intervals(stats.compare(np.ones((1, 4)), higher=True, seed=0).better) == [
        (1, 1)
    ]
    assert stats.rank_intervals(stats.compare(np.ones((0, 4)), higher=True, seed=0).better) == []


def test_methods_without_common_examples_are_not_told_apart() -> None:
    values = np.array([[1.0, np.nan, 2.0, np.nan], [np.nan, 5.0, np.nan, 9.0]])
    found = stats.compare(values, higher=True, seed=0)
    assert found.n[0, 1] == 0
    assert not found.better.any()


@st.composite
def symmetric(draw: st.DrawFn) -> Bools:
    m = draw(st.integers(1, 7))
    cells = draw(st.lists(st.booleans(), min_size=m * m, max_size=m * m))
    square = np.triu(np.array(cells).reshape(m, m), 1)
    return np.asarray(square | square.T, bool)


@given(symmetric())
def test_letters_are_shared_exactly_by_those_not_told_apart(apart: Bools) -> None:
    letters = stats.tied_groups(apart)
    for i, j in itertools.combinations(range(len(apart)), 2):
        assert bool(set(letters[i]) & set(letters[j])) == (not apart[i, j])
    assert all(letters)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=9), st.integers(1, 5))
def test_letters_of_a_scale_are_its_longest_runs(points: list[int], gap: int) -> None:
    """Where being told apart follows distance on a scale, groups are maximal runs in its order."""
    places = sorted(points)
    m = len(places)
    apart = np.abs(np.subtract.outer(places, places)) >= gap
    runs = [
        (i, j)
        for i, j in itertools.combinations_with_replacement(range(m), 2)
        if places[j] - places[i] < gap
    ]
    longest = [r for r in runs if not any(s != r and s[0] <= r[0] and r[1] <= s[1] for s in runs)]
    expected = [
        "".join(stats.LETTERS[k] for k, (i, j) in enumerate(sorted(longest)) if i <= member <= j)
        for member in range(m)
    ]
    assert stats.tied_groups(apart) == expected


def test_letters_follow_the_order() -> None:
    apart = np.array([[0, 1], [1, 0]], bool)
    assert stats.tied_groups(apart, [1, 0]) == ["b", "a"]


@given(symmetric())
def test_rank_intervals_hold_every_rank_that_the_verdicts_allow(apart: Bools) -> None:
    """Brute force: the ranks that a method takes in all orders that respect every verdict."""
    m = min(len(apart), 5)
    better = np.triu(apart[:m, :m], 1)  # earlier is better where told apart: never a circle
    orders = [
        order
        for order in itertools.permutations(range(m))
        if all(order.index(i) < order.index(j) for i, j in np.argwhere(better))
    ]
    for i, (low, high) in enumerate(stats.rank_intervals(better)):
        ranks = [order.index(i) + 1 for order in orders]
        assert low <= min(ranks)
        assert max(ranks) <= high


def test_a_whole_board_is_quick() -> None:
    """9 methods, 8 metrics, 4 tasks, 30 examples: all pairs and all intervals in 2 seconds."""
    values = np.random.default_rng(0).normal(size=(32, 9, 30))
    started = time.process_time()
    for board in values:
        stats.compare(board, higher=True, seed=0)
        for row in board:
            stats.bootstrap_mean(row, seed=0)
    assert time.process_time() - started < 2


@given(st.integers(0, 9), st.floats(-1e4, 1e4))
def test_differences_below_the_resolution_of_float32_are_ties(seed: int, level: float) -> None:
    base = level + np.random.default_rng(seed).random(12)
    size = np.maximum(1, np.abs(base))
    tied, apart = (np.array([base, base + step * size]) for step in (1e-7, 1e-3))
    assert not stats.compare(tied, higher=True, seed=0).better.any()
    assert stats.compare(apart, higher=True, seed=0).better.tolist() == [[0, 0], [1, 0]]
    assert (stats.win_rate(*tied), stats.win_rate(*apart)) == (0.5, 0.0)
    assert stats.average_ranks(tied.T, higher=True).tolist() == [1.5, 1.5]
    assert stats.average_ranks(apart.T, higher=True).tolist() == [2, 1]


def test_values_near_zero_are_as_coarse_as_values_near_one() -> None:
    assert stats.paired([1e-7, 0.0, 2e-5], [0.0, 1e-6, 0.0]).tolist() == [0, 0, 2e-5]
