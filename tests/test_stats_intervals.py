"""BCa and hierarchical intervals: libraries, enumerations, degenerate data, properties."""

import itertools
import statistics

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from attrial import stats

numbers = st.floats(-100, 100, allow_subnormal=False)
Board = list[list[float]]


def test_oracle_s1() -> None:
    """Where values have no spread BCa has no value, and percentiles are points."""
    assert stats.bca_mean(np.full(7, 0.1), seed=0) == (0.1, 0.1)
    assert stats.bca_mean(np.zeros(5), seed=0) == (0.0, 0.0)
    assert stats.bca_mean([0.7], seed=0) == (0.7, 0.7)
    difference = stats.paired([0.3, 0.6, 0.9], [0.2, 0.5, 0.8])
    assert stats.bca_mean(difference, seed=0) == pytest.approx((0.1, 0.1), abs=1e-15)


@pytest.mark.parametrize("n", [5, 20, 60])
def test_bca_equals_scipy_on_the_same_draws(n: int) -> None:
    values = np.random.default_rng(n).exponential(size=n)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=2_000, rng=np.random.default_rng(3)
    ).confidence_interval
    ours = stats.bca_mean(values, resamples=2_000, seed=3)
    np.testing.assert_allclose(ours, (theirs.low, theirs.high), rtol=1e-9)


def slow_bca(values: list[float], resamples: int, seed: int) -> list[float]:
    """Efron's steps with a real jackknife, the normal distribution of the standard library."""
    n, normal = len(values), statistics.NormalDist()
    rows = np.random.default_rng(seed).integers(n, size=(resamples, n)).tolist()
    means = sorted(sum(values[i] for i in row) / n for row in rows)
    mean = sum(values) / n
    z = normal.inv_cdf(sum(m < mean for m in means) / resamples)
    left_out = [(sum(values) - v) / (n - 1) for v in values]
    middle = sum(left_out) / n
    a = sum((middle - x) ** 3 for x in left_out)
    a /= 6 * sum((middle - x) ** 2 for x in left_out) ** 1.5
    ends = []
    for share in (0.05, 0.95):
        shifted = z + normal.inv_cdf(share)
        spot = normal.cdf(z + shifted / (1 - a * shifted)) * (resamples - 1)
        below = means[int(spot)]
        ends.append(below + (spot - int(spot)) * (means[int(spot) + 1] - below))
    return ends


def test_bca_equals_a_loop() -> None:
    values = np.random.default_rng(2).lognormal(size=12)
    fast = stats.bca_mean(values, level=0.9, resamples=500, seed=7)
    np.testing.assert_allclose(fast, slow_bca(values.tolist(), 500, 7), rtol=1e-9)


def test_bca_leans_to_the_long_tail() -> None:
    values = np.random.default_rng(0).exponential(size=30)
    plain, shifted = stats.bootstrap_mean(values, seed=0), stats.bca_mean(values, seed=0)
    assert shifted[0] > plain[0]
    assert shifted[1] > plain[1]
    np.testing.assert_allclose(stats.bca_mean(-values, seed=0), (-shifted[1], -shifted[0]))


def test_bca_is_paired() -> None:
    values = np.random.default_rng(4).normal(0, 1, 20)
    low, high = stats.bca_mean(values, seed=1)
    np.testing.assert_allclose(stats.bca_mean(3 * values + 2, seed=1), (3 * low + 2, 3 * high + 2))


@given(st.lists(numbers, min_size=1, max_size=20), st.integers(0, 5))
@settings(max_examples=60)
def test_intervals_hold_the_mean_and_stay_within_the_values(values: list[float], seed: int) -> None:
    for low, high in (
        stats.bca_mean(values, resamples=300, seed=seed),
        stats.bootstrap_mean(values, resamples=300, seed=seed),
    ):
        assert min(values) <= low <= high <= max(values)
        slack = 1e-9 * max(map(abs, values))
        assert low - slack <= sum(values) / len(values) <= high + slack


@pytest.mark.parametrize("values", [[], [1.0, np.nan], [np.inf], [[1.0], [2.0]]])
def test_bca_refuses_what_it_cannot_do(values: list[float]) -> None:
    with pytest.raises(ValueError, match="finite values"):
        stats.bca_mean(values, seed=0)


def enumerated(board: Board, shared: bool) -> list[float]:
    """The mean of every equally likely resample of rows and examples."""
    g, n = len(board), len(board[0])
    columns = list(itertools.product(range(n), repeat=n))
    draws = [(c,) * g for c in columns] if shared else list(itertools.product(columns, repeat=g))
    return [
        sum(board[row][i] for row, picks in zip(rows, drawn, strict=True) for i in picks) / (g * n)
        for rows in itertools.product(range(g), repeat=g)
        for drawn in draws
    ]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("board", [[[0.0, 1.0], [3.0, 7.0]], [[1.0, 2.0, 9.0], [0.0, 4.0, 5.0]]])
def test_hierarchical_equals_the_enumeration(board: Board, shared: bool) -> None:
    """Ends of the interval are the atoms at which the exact distribution passes 5 % and 95 %."""
    exact = np.array(enumerated(board, shared))
    low, high = stats.hierarchical_mean(board, shared=shared, level=0.9, resamples=40_000, seed=0)
    for end, share in ((low, 0.05), (high, 0.95)):
        assert np.mean(exact < end - 1e-9) <= share + 0.005
        assert np.mean(exact <= end + 1e-9) >= share - 0.005


def test_the_enumeration_tells_shared_from_own_examples() -> None:
    """Examples that matter alike in both rows: own draws would average their luck away."""
    board = np.array([[0.0, 10.0] * 10, [0.1, 10.1] * 10])
    widths = [
        high - low
        for low, high in (
            stats.hierarchical_mean(board, shared=shared, seed=0) for shared in (True, False)
        )
    ]
    assert widths[0] / widths[1] == pytest.approx(2**0.5, rel=0.05)


def test_rows_that_differ_widen_the_interval() -> None:
    """The spread of g rows adds to that of the examples; pooling all values would miss it."""
    rng = np.random.default_rng(0)
    board = rng.normal(size=(6, 50)) + 2 * rng.normal(size=(6, 1))
    low, high = stats.hierarchical_mean(board, seed=0)
    pooled = stats.bootstrap_mean(board.ravel(), seed=0)
    assert high - low > 4 * (pooled[1] - pooled[0])
    spread = float(board.mean(axis=1).std()) / 6**0.5
    assert high - low == pytest.approx(2 * 1.96 * spread, rel=0.15)
    assert low < board.mean() < high


def test_rows_that_agree_leave_the_interval_of_the_examples() -> None:
    values = np.random.default_rng(1).normal(size=40)
    both = stats.hierarchical_mean(np.stack([values, values]), seed=0)
    np.testing.assert_allclose(both, stats.bootstrap_mean(values, seed=0), atol=0.02)
    assert stats.hierarchical_mean(np.full((3, 4), 0.1), seed=0) == (0.1, 0.1)


def test_hierarchical_is_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    board = np.random.default_rng(1).normal(size=(3, 10))
    whole = stats.hierarchical_mean(board, resamples=3_000, seed=0)
    monkeypatch.setattr("attrial.stats.draws.BLOCK", 6_000)
    parts = stats.hierarchical_mean(board, resamples=3_000, seed=0)
    np.testing.assert_allclose(parts, whole, atol=0.05)
    assert parts == stats.hierarchical_mean(board, resamples=3_000, seed=0)


@given(
    st.integers(2, 4).flatmap(
        lambda n: st.lists(st.lists(numbers, min_size=n, max_size=n), min_size=2, max_size=4)
    ),
    st.booleans(),
)
@settings(max_examples=40)
def test_hierarchical_stays_within_the_values(board: Board, shared: bool) -> None:
    low, high = stats.hierarchical_mean(board, shared=shared, resamples=100, seed=0)
    everything = [v for row in board for v in row]
    assert min(everything) <= low <= high <= max(everything)
    mirrored = stats.hierarchical_mean(-np.asarray(board), shared=shared, resamples=100, seed=0)
    np.testing.assert_allclose(mirrored, (-high, -low), atol=1e-9)


@pytest.mark.parametrize(
    "values", [[1.0, 2.0], [[1.0, 2.0]], [[], []], [[1.0, np.nan], [0.0, 1.0]]]
)
def test_hierarchical_refuses_what_it_cannot_do(values: npt.ArrayLike) -> None:
    with pytest.raises(ValueError, match="two rows"):
        stats.hierarchical_mean(values, seed=0)
