"""Power and effect sizes: another library, simulation, loops, properties."""

import itertools
import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from attrial import stats
from attrial.errors import Undefined

whole = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def differences_of(mean: float, spread: float, n: int) -> list[float]:
    """n numbers with exactly this mean and standard deviation."""
    raw = np.linspace(-1, 1, n)
    return [float(v) for v in mean + spread * raw / raw.std(ddof=1)]


def slow_power(effect: float, n: int, level: float) -> float:
    """The chance to pass the t test's bounds, averaged over all standard deviations in samples."""
    bound = scipy.stats.t.isf(level / 2, n - 1)

    def claims(ratio: float) -> float:
        bars = (bound * ratio - effect * n**0.5, bound * ratio + effect * n**0.5)
        density = scipy.stats.chi.pdf(ratio * (n - 1) ** 0.5, n - 1) * (n - 1) ** 0.5
        return float(np.sum(scipy.stats.norm.sf(bars)) * density)

    middle, width = 1.0, 10 / (n - 1) ** 0.5
    ends = (max(0.0, middle - width), middle + width)
    return float(scipy.integrate.quad(claims, *ends, points=[middle], limit=200)[0])


@pytest.mark.parametrize("n", [8, 30, 200])
@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.9)])
def test_detectable_differences_agree_with_statsmodels(n: int, alpha: float, power: float) -> None:
    found = differences_of(7.0, 0.4, n)
    theirs = TTestPower().solve_power(nobs=n, alpha=alpha, power=power) * 0.4
    got = stats.detectable_difference(found, alpha=alpha, power=power)
    assert got == pytest.approx(theirs, rel=1e-5)


@given(st.floats(0.05, 3), st.floats(0.1, 5), st.integers(1, 66))
@settings(max_examples=25, deadline=None)
def test_needed_examples_are_just_enough(effect: float, spread: float, comparisons: int) -> None:
    """The integral reaches 80 % with as many, and not with one fewer."""
    found = differences_of(effect * spread, spread, 20)
    n = stats.needed_examples(found, comparisons=comparisons)
    least = stats.least_examples(comparisons)
    assert n >= least
    powers = [slow_power(effect, k, 0.05 / comparisons) for k in (n - 1, n)]
    assert powers[1] >= 0.8 - 1e-6
    assert n == least or powers[0] < 0.8 + 1e-6


@given(st.integers(11, 80), st.floats(0.1, 3), st.integers(1, 28))
@settings(max_examples=25, deadline=None)
def test_needed_and_detectable_are_one_function(n: int, spread: float, comparisons: int) -> None:
    """A mean as large as n examples can detect needs n examples."""
    found = differences_of(0.0, spread, n)
    size = stats.detectable_difference(found, comparisons=comparisons)
    settled = [v + size * (1 + 1e-9) for v in found]
    assert stats.needed_examples(settled, comparisons=comparisons) == n


@pytest.mark.parametrize("n", [15, 40])
def test_sign_flips_claim_a_detectable_difference_in_four_of_five(n: int) -> None:
    rng = np.random.default_rng(0)
    size = stats.detectable_difference(differences_of(0.0, 1.0, n))
    boards = rng.normal(size, 1, (600, n))
    claims = np.mean(stats.sign_flips(boards, resamples=2_000, seed=0) <= 0.05)
    assert claims == pytest.approx(0.8, abs=0.05)


def test_what_too_few_examples_detect_is_undefined() -> None:
    """With five examples the least p is 1/16; with six 1/32."""
    with pytest.raises(Undefined, match="5 examples tell nothing apart in 1 comparisons, 6 can"):
        stats.detectable_difference([1.0, 2, 3, 4, 5])
    assert stats.detectable_difference([1.0, 2, 3, 4, 5, 6]) > 0
    with pytest.raises(Undefined, match="11 can"):
        stats.detectable_difference(np.arange(10.0), comparisons=28)


def test_differences_without_spread() -> None:
    assert stats.needed_examples([0.1] * 3) == stats.least_examples(1) == 6
    assert stats.needed_examples([0.1] * 3, comparisons=28) == stats.least_examples(28) == 11
    assert stats.detectable_difference([0.1] * 8) == 0


def test_no_number_of_examples_settles_a_draw() -> None:
    for draw in ([1.0, -1.0], [0.0, 0.0], [1.0, -1.0 + 1e-9]):
        with pytest.raises(Undefined, match="too small"):
            stats.needed_examples(draw)
    assert 10**7 < stats.needed_examples([1.0, -1.0 + 1e-3]) < 10**8


@pytest.mark.parametrize("values", [[], [1.0], [1.0, math.nan], [[1.0, 2.0]]])
def test_power_refuses_what_has_no_spread(values: list[float]) -> None:
    for function in (stats.needed_examples, stats.detectable_difference):
        with pytest.raises(ValueError, match="two finite differences"):
            function(values)


@pytest.mark.parametrize(("alpha", "power"), [(0.05, 1.0), (0.0, 0.8), (0.9, 0.8)])
def test_power_refuses_levels_that_make_no_sense(alpha: float, power: float) -> None:
    for function in (stats.needed_examples, stats.detectable_difference):
        with pytest.raises(ValueError, match="alpha"):
            function(np.arange(20.0), alpha=alpha, power=power)


@pytest.mark.parametrize("m", [3, 12, 35])
def test_the_least_examples_can_settle_every_board(m: int) -> None:
    """However many methods: drawn flips are fine enough to tell clear steps apart."""
    n = stats.least_examples(m * (m - 1) // 2)
    values = np.arange(m)[:, None] * (1.0 + 0.01 * np.arange(n + 1)[None, :])
    assert stats.compare(values, higher=True, seed=0).better.any()
    assert not stats.compare(values[:, 2:], higher=True, seed=0).better.any()


def test_a_large_board_with_a_small_number_of_resamples_still_claims() -> None:
    values = np.random.default_rng(0).normal(size=(35, 40)) + 20 * np.arange(35)[:, None]
    better = stats.compare(values, higher=True, resamples=100, seed=0).better
    assert better.sum() == 35 * 34 / 2


@given(whole, whole)
def test_cliffs_delta_equals_the_loop(a: list[int], b: list[int]) -> None:
    ahead = sum((x > y) - (x < y) for x, y in itertools.product(a, b))
    assert stats.cliffs_delta(a, b) == pytest.approx(ahead / (len(a) * len(b)), abs=1e-12)
    assert stats.cliffs_delta(b, a) == pytest.approx(-stats.cliffs_delta(a, b), abs=1e-12)


@given(st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=9))
def test_win_rate_equals_the_loop(pairs: list[tuple[int, int]]) -> None:
    a, b = zip(*pairs, strict=True)
    won = sum(1.0 if x > y else 0.5 if x == y else 0.0 for x, y in pairs)
    assert stats.win_rate(a, b) == pytest.approx(won / len(pairs), abs=1e-12)
    assert stats.win_rate(b, a) == pytest.approx(1 - stats.win_rate(a, b), abs=1e-12)


def test_effect_sizes_differ_in_what_they_pair() -> None:
    """b is always a little ahead on its example, and examples differ by more than that."""
    a = np.arange(10.0)
    assert stats.win_rate(a, a + 0.5) == 0
    assert stats.cliffs_delta(a, a + 0.5) == pytest.approx(-0.1)
    assert stats.cliffs_delta([3, 4], [1, 2]) == 1


def test_effect_sizes_leave_out_what_is_undefined() -> None:
    a, b = [1.0, math.nan, 3.0], [0.0, 5.0, math.nan]
    assert stats.win_rate(a, b) == 1
    assert stats.cliffs_delta(a, b) == 0
    assert stats.win_rate([0.1 + 0.2], [0.3]) == 0.5
    with pytest.raises(Undefined, match="in common"):
        stats.win_rate([1.0, math.nan], [math.nan, 1.0])
    with pytest.raises(Undefined, match="without values"):
        stats.cliffs_delta([math.nan], [1.0])
