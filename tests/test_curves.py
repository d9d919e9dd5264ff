"""Areas, drops, bins and normalised values, against sums done by hand."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attrial.curves import area, bin_sizes, mean_curve, mean_drop, normalise
from attrial.errors import AttrialError, Undefined
from tests.slow import trapezoids

heights = st.lists(st.floats(-5, 5), min_size=2, max_size=9)


@given(heights)
def test_the_area_is_a_sum_of_trapezoids(curve: list[float]) -> None:
    assert area(curve) == pytest.approx(trapezoids(curve), abs=1e-12)


@given(heights)
def test_the_mean_drop_is_over_all_but_the_first(curve: list[float]) -> None:
    assert mean_drop(curve) == pytest.approx(
        sum(curve[0] - v for v in curve[1:]) / (len(curve) - 1), abs=1e-12
    )


@given(st.integers(1, 400), st.lists(st.integers(1, 1000), min_size=1, max_size=5))
def test_bins_round_up_whatever_floating_point_does(n: int, thousandths: list[int]) -> None:
    got = bin_sizes(tuple(t / 1000 for t in thousandths), n)
    assert got.tolist() == [ceil(Fraction(t * n, 1000)) for t in thousandths]


@pytest.mark.parametrize(
    ("n", "sizes"),
    [(1, [1] * 5), (10, [1, 1, 1, 2, 5]), (30, [1, 2, 3, 6, 15]), (100, [1, 5, 10, 20, 50])],
)
def test_bins_of_eraser(n: int, sizes: list[int]) -> None:
    assert bin_sizes((0.01, 0.05, 0.1, 0.2, 0.5), n).tolist() == sizes
    assert bin_sizes((0.1, 0.3), 10).tolist() == [1, 3]


@pytest.mark.parametrize("bins", [(), (0.0,), (0.1, 1.1), (-0.5,), (float("nan"),)])
def test_bins_outside_0_to_1_are_refused(bins: tuple[float, ...]) -> None:
    with pytest.raises(AttrialError, match="shares in"):
        bin_sizes(bins, 10)


@given(st.floats(-9, 9), st.floats(-9, 9), st.floats(0.01, 9))
def test_normalised_is_linear_between_the_controls(value: float, worst: float, gap: float) -> None:
    for signed in (gap, -gap):  # higher or lower is better
        best = worst + signed
        assert normalise(best, best, worst) == 1 and normalise(worst, best, worst) == 0
        back = worst + normalise(value, best, worst) * (best - worst)
        assert back == pytest.approx(value, abs=1e-6)


def test_a_value_beyond_the_controls_is_not_clipped() -> None:
    assert normalise(3.0, best=2.0, worst=0.0) == 1.5
    assert normalise(-1.0, best=2.0, worst=0.0) == -0.5


@pytest.mark.parametrize("gap", [0.0, 1e-7, -1e-7, float("nan")])
def test_controls_that_coincide_normalise_nothing(gap: float) -> None:
    with pytest.raises(Undefined, match="best and worst order coincide"):
        normalise(0.5, 0.5 + gap, 0.5)
    assert np.isfinite(normalise(0.5, 0.5 + 1e-4, 0.5))


def test_curves_of_unlike_lengths_meet_on_shares() -> None:
    curves = [np.linspace(1, 0, n) for n in (2, 5, 31)]
    np.testing.assert_allclose(mean_curve(curves), np.linspace(1, 0, 101), atol=1e-12)
