"""Strengths from wins and ties: closed forms, a plain likelihood, Zermelo's loop, properties."""

import itertools
import math
from collections.abc import Iterable

import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attrial import stats
from attrial.errors import Undefined
from attrial.masks import Floats, Values

Game = tuple[int, int, float]  # two methods, and what the first gets: 1, 0.5 or 0


def games(values: Floats) -> list[Game]:
    """One game for each example and pair, higher values win."""
    return [
        (i, j, 1.0 if values[i, e] > values[j, e] else 0.5 if values[i, e] == values[j, e] else 0)
        for i, j in itertools.combinations(range(len(values)), 2)
        for e in range(values.shape[1])
        if not math.isnan(values[i, e] + values[j, e])
    ]


def loss(parameters: Iterable[float], played: list[Game]) -> float:
    """Minus Davidson's log likelihood, one game after the other."""
    total = 0.0
    *logs, log_nu = parameters
    for i, j, points in played:
        a, b = math.exp(logs[i]), math.exp(logs[j])
        tie = math.exp(log_nu) * math.sqrt(a * b)
        total -= math.log((a if points == 1 else b if points == 0 else tie) / (a + b + tie))
    return total


def test_oracle_s3() -> None:
    three_to_one = np.array([[1.0, 1, 1, 0], [0, 0, 0, 1]])
    found = stats.bradley_terry(three_to_one, higher=True)
    assert math.exp(found.log[0] - found.log[1]) == pytest.approx(3, abs=1e-8)
    assert found.log[0] - found.log[1] == pytest.approx(1.0986, abs=5e-5)
    assert found.tie == 0
    tied = stats.bradley_terry(np.ones((3, 4)), higher=True)
    assert tied.log.tolist() == [0, 0, 0]
    assert tied.tie == math.inf


def test_equal_methods_tie_with_the_stated_chance() -> None:
    """1 win each and 3 ties of 5: nu / (2 + nu) = 3/5, so nu = 3."""
    found = stats.bradley_terry(np.array([[1.0, 0, 2, 2, 2], [0, 1, 2, 2, 2]]), higher=True)
    np.testing.assert_allclose(found.log, 0, atol=1e-9)
    assert found.tie == pytest.approx(3, abs=1e-7)


def test_ties_count_for_both() -> None:
    """Two methods: points 2.5 and 1.5 of 4. Strengths solve the two equations of the likelihood."""
    found = stats.bradley_terry(np.array([[1.0, 1, 0, 2], [0, 0, 1, 2]]), higher=True)
    a, b = math.exp(found.log[0]), math.exp(found.log[1])
    total = a + b + found.tie
    assert a * b == pytest.approx(1)
    assert (a + found.tie / 2) / total == pytest.approx(2.5 / 4)
    assert found.tie / total == pytest.approx(1 / 4)


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 5), st.integers(0, 1000), st.booleans())
def test_strengths_maximise_the_plain_likelihood(m: int, seed: int, holes: bool) -> None:
    rng = np.random.default_rng(seed)
    values = np.rint(rng.normal(size=(m, 25)) + 0.3 * np.arange(m)[:, None]).astype(np.float64)
    if holes:
        values[rng.random(values.shape) < 0.15] = np.nan
    found = stats.bradley_terry(values, higher=True)
    played = games(values)
    start = np.zeros(m + 1)

    def slow_loss(parameters: Values) -> float:
        return loss(parameters.tolist(), played)

    slow = scipy.optimize.minimize(slow_loss, start, tol=1e-9).x
    np.testing.assert_allclose(found.log, slow[:m] - slow[:m].mean(), atol=2e-4)
    assert found.tie == pytest.approx(math.exp(slow[m]), rel=1e-3)
    assert loss([*found.log, math.log(found.tie)], played) <= loss(slow, played) + 1e-9


def test_without_ties_zermelo_finds_the_same() -> None:
    values = np.random.default_rng(3).normal(size=(4, 40)) + 0.3 * np.arange(4)[:, None]
    wins = np.zeros((4, 4))
    for i, j, points in games(values):
        wins[i, j] += points
        wins[j, i] += 1 - points
    worth = [1.0] * 4
    for _ in range(2_000):
        worth = [
            wins[i].sum()
            / sum((wins[i, j] + wins[j, i]) / (worth[i] + worth[j]) for j in range(4) if j != i)
            for i in range(4)
        ]
    slow = np.log(worth) - np.log(worth).mean()
    found = stats.bradley_terry(values, higher=True)
    np.testing.assert_allclose(found.log, slow, atol=1e-8)
    assert found.tie == 0


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 8), st.integers(0, 1000))
def test_relabelling_mirrors_and_scales(m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(m, 40)), 1)
    assume(all((values[i] > values[j]).any() for i, j in itertools.permutations(range(m), 2)))
    found = stats.bradley_terry(values, higher=True).log
    assert found.sum() == pytest.approx(0, abs=1e-9)
    order = rng.permutation(m)
    np.testing.assert_allclose(
        stats.bradley_terry(values[order], higher=True).log, found[order], atol=1e-6
    )
    np.testing.assert_allclose(stats.bradley_terry(values, higher=False).log, -found, atol=1e-6)
    scaled = np.exp(values) * rng.uniform(1, 100, 40)  # each example on a scale of its own
    np.testing.assert_allclose(stats.bradley_terry(scaled, higher=True).log, found, atol=1e-6)


def test_one_example_of_another_scale_does_not_decide() -> None:
    """Nine wins by a little and a loss by a lot: a lower mean, a higher strength."""
    values = np.array([[0.1] * 9 + [-100], [0.0] * 10])
    assert values[0].mean() < values[1].mean()
    assert stats.bradley_terry(values, higher=True).log[0] == pytest.approx(math.log(9) / 2)


def test_known_strengths_are_found_again() -> None:
    """Gumbel noise on log strengths makes Bradley and Terry's chances."""
    rng = np.random.default_rng(0)
    truth = np.array([-1.0, 0.0, 0.2, 0.8])
    values = rng.gumbel(size=(4, 6_000)) + truth[:, None]
    found = stats.bradley_terry(values, higher=True)
    np.testing.assert_allclose(found.log, truth, atol=0.06)


def test_intervals_cover_known_strengths() -> None:
    """About 95 of 100 boards: two standard errors are four points."""
    rng = np.random.default_rng(1)
    truth = np.array([-0.5, 0.0, 0.5])
    hits = []
    for board in range(100):
        values = rng.gumbel(size=(3, 60)) + truth[:, None]
        low, high = stats.bradley_terry_intervals(values, higher=True, resamples=200, seed=board)
        hits.append((low <= truth) & (truth <= high))
    assert (np.abs(np.mean(hits, axis=0) - 0.95) < 0.05).all()


def test_who_never_loses_has_no_finite_strength() -> None:
    beaten = np.array([[2.0, 2, 2], [1, 0, 1], [0, 1, 0]])
    for higher in (True, False):
        with pytest.raises(Undefined, match="infinitely strong"):
            stats.bradley_terry(beaten, higher=higher)
    found = stats.bradley_terry(beaten, higher=True, prior=1.0)
    assert found.log[0] == max(found.log)
    assert np.isfinite(found.log).all()


def test_methods_without_games_have_no_strength() -> None:
    apart = np.array([[1.0, 2, np.nan, np.nan], [np.nan, np.nan, 1, 2]])
    with pytest.raises(Undefined, match="infinitely strong"):
        stats.bradley_terry(apart, higher=True)


def test_a_prior_is_so_many_games_half_won() -> None:
    """3:1 and a prior of 2 games: 4:2."""
    found = stats.bradley_terry(np.array([[1.0, 1, 1, 0], [0, 0, 0, 1]]), higher=True, prior=2.0)
    assert math.exp(found.log[0] - found.log[1]) == pytest.approx(2, abs=1e-8)


def test_intervals_equal_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each resample fitted alone, whatever the blocks in which boards are fitted."""
    values = np.round(np.random.default_rng(5).normal(size=(4, 30)), 1)
    drawn = np.random.default_rng(9).integers(30, size=(40, 30))
    logs = [stats.bradley_terry(values[:, rows], higher=True).log for rows in drawn]
    slow = np.quantile(logs, [0.025, 0.975], axis=0)
    for block in (2**21, 100):
        monkeypatch.setattr("attrial.stats.draws.BLOCK", block)
        fast = stats.bradley_terry_intervals(values, higher=True, resamples=40, seed=9)
        np.testing.assert_allclose(fast, slow, atol=1e-7)
    whole = stats.bradley_terry(values, higher=True).log
    assert (fast[0] < whole).all()
    assert (whole < fast[1]).all()


def test_a_resample_without_finite_strengths_is_told() -> None:
    rare = np.array([[1.0] * 9 + [0.0], [0.0] * 9 + [1.0]])  # the loss is in 65 % of resamples
    with pytest.raises(Undefined, match="infinitely strong"):
        stats.bradley_terry_intervals(rare, higher=True, resamples=50, seed=0)
    low, high = stats.bradley_terry_intervals(rare, higher=True, prior=1.0, resamples=50, seed=0)
    assert low[0] < high[0] < 2


def test_many_methods_are_quick() -> None:
    values = np.random.default_rng(0).normal(size=(35, 100)).round(1)
    low, high = stats.bradley_terry_intervals(values, higher=True, resamples=100, seed=0)
    assert (low < high).all()
