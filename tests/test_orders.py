"""The best and the worst order: exact where small, and as good as exact where searched."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attrial import plugin_call, testing
from attrial.ask import Asking
from attrial.errors import AttrialError, Undefined
from attrial.games import Game
from attrial.masks import Floats, Masks
from attrial.metrics._bins import BINS, weights
from attrial.metrics._orders import BEAM, Level, chain, explored
from attrial.target import Target
from attrial.value import Subject, Value, answer
from tests import slow

LOGIT = Target(0, "logit")
OR_AND_A_BIT = testing.game(3, lambda m: (m[:, 0] | m[:, 1]) + 0.3 * m[:, 2])


def levels_of(game: Game, *, beam: int = BEAM, exact: int = 12) -> Sequence[Level]:
    asker: Asking[Sequence[Level]] = explored(game.example.n, beam=beam, exact=exact)
    (got,) = answer(Value(game), [(Subject(game.example, "game", LOGIT), asker)])
    assert got.result is not None
    return got.result


def least(game: Game, levels: Sequence[Level], counts: Floats, sign: float) -> float:
    """The sum of values along the chain that was found."""
    sets = chain(levels, counts, sign)
    return float((np.asarray(game.value(sets)) * counts[sets.sum(1)]).sum())


def brute(game: Game, counts: Floats) -> tuple[float, float]:
    """Least and greatest sum over all n! orders."""
    value = slow.value_of(game)
    sums = [
        sum(c * v for c, v in zip(counts, slow.added(value, order), strict=True))
        for order in itertools.permutations(range(game.example.n))
    ]
    return min(sums), max(sums)


def greedy(value: slow.Value, n: int) -> slow.Order:
    """Always the player whose leaving hurts most: a beam of one."""
    left, order = set(range(n)), []
    while left:
        gone = min(sorted(left), key=lambda i: value(frozenset(left - {i})))
        left.remove(gone)
        order.append(gone)
    return tuple(order)


def test_greedy_is_not_the_best_order() -> None:
    value = slow.value_of(OR_AND_A_BIT)
    assert greedy(value, 3)[0] == 2
    assert slow.aopc(value, greedy(value, 3)) == pytest.approx(0.633333, abs=5e-7)
    assert testing.score("aopc", OR_AND_A_BIT, [3, 2, 1]) == pytest.approx(0.766667, abs=5e-7)
    assert testing.score("aopc", OR_AND_A_BIT, [3, 1, 2]) == pytest.approx(0.533333, abs=5e-7)
    for good, place in (([3, 2, 1], 1.0), ([3, 1, 2], 0.0), ([2, 1, 3], 3 / 7)):
        got = testing.score("aopc", OR_AND_A_BIT, good, normalised=True)
        assert got == pytest.approx(place, abs=1e-12)


@pytest.mark.parametrize("n", range(3, 8))
@pytest.mark.parametrize("seed", range(3))
def test_the_exact_chain_is_the_best_of_all_orders(n: int, seed: int) -> None:
    game = slow.interacting(n, seed)
    levels = levels_of(game)
    for counts in (np.ones(n + 1), weights(BINS, n), weights(BINS, n)[::-1]):
        low, high = brute(game, counts)
        assert least(game, levels, counts, 1) == pytest.approx(low, abs=1e-12)
        assert least(game, levels, counts, -1) == pytest.approx(high, abs=1e-12)


def test_the_exact_chain_is_the_best_of_all_orders_of_eight() -> None:
    game, counts = slow.interacting(8, 7), np.ones(9)
    levels = levels_of(game)
    found = [least(game, levels, counts, sign) for sign in (1, -1)]
    np.testing.assert_allclose(found, brute(game, counts), atol=1e-12)


def mlp(n: int, rng: np.random.Generator) -> Game:
    """A random network on the mask."""
    into, bias, out = rng.normal(size=(n, 16)), rng.normal(size=16), rng.normal(size=16)
    return testing.game(n, lambda m: 1 / (1 + np.exp(-np.maximum(m @ into + bias, 0) @ out)))


def pooled(n: int, rng: np.random.Generator) -> Game:
    """Softmax attention over values: who leaves changes everyone's weight."""
    weight, worth = np.exp(2 * rng.normal(size=n)), 6 * rng.normal(size=n)

    def value(masks: Masks) -> Floats:
        w = np.where(masks, weight, 1.0)
        return np.asarray(1 / (1 + np.exp(-(w * masks) @ worth / w.sum(1))))

    return testing.game(n, value)


def keyworded(n: int, rng: np.random.Generator) -> Game:
    """Three strong players, many weak ones, weak pairs."""
    alone, pairs = 0.2 * rng.normal(size=n), 0.2 * np.triu(rng.normal(size=(n, n)), 1)
    alone[rng.permutation(n)[:3]] += rng.choice([-3, 3], 3)

    def value(masks: Masks) -> Floats:
        z = masks @ alone + ((masks @ pairs) * masks).sum(1)
        return np.asarray(1 / (1 + np.exp(-z)))

    return testing.game(n, value)


def found_exactly(beam: int) -> float:
    """How often the beam's chain is as good as the exact one: 4 kinds of games, 3 metrics."""
    found: list[bool] = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        for game in (slow.interacting(11, seed), mlp(11, rng), pooled(11, rng), keyworded(11, rng)):
            searched, exact = levels_of(game, beam=beam, exact=0), levels_of(game)
            for counts in (np.ones(12), weights(BINS, 11), weights(BINS, 11)[::-1]):
                found += [
                    abs(least(game, searched, counts, s) - least(game, exact, counts, s)) < 1e-9
                    for s in (1, -1)
                ]
    return float(np.mean(found))


def test_the_beam_finds_19_of_20_exact_orders_and_a_narrow_one_does_not() -> None:
    assert found_exactly(BEAM) >= 0.95
    assert found_exactly(1) < 0.8


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_any_beam_gives_whole_orders(beam: int) -> None:
    game, counts = slow.interacting(13, 0), np.ones(14)
    levels = levels_of(game, beam=beam)
    for sign in (1, -1):
        sets = chain(levels, counts, sign)
        assert sets.sum(1).tolist() == list(range(14))
        assert (sets[1:] >= sets[:-1]).all()


def test_a_beam_asks_for_far_less_than_all_sets() -> None:
    game = slow.interacting(16, 0)
    rows = sum(len(level.masks) for level in levels_of(game))
    assert rows < 2**16 / 40
    for level in levels_of(game):
        assert len(np.unique(level.masks, axis=0)) == len(level.masks)


@pytest.mark.parametrize("n", [5, 14])
def test_those_who_are_told_the_same_values_share_one_search(n: int) -> None:
    game = slow.interacting(n, 2)
    first, again, other = levels_of(game), levels_of(game), levels_of(slow.interacting(n, 3))
    assert all(a is b for a, b in zip(first, again, strict=True))
    assert not any(a is b for a, b in zip(first, other, strict=True))
    assert not np.array_equal(first[2].values, other[2].values)


def test_a_beam_below_one_is_refused() -> None:
    with pytest.raises(AttrialError, match="beam must be at least 1"):
        testing.score("aopc(beam=0)", OR_AND_A_BIT, [1, 2, 3], normalised=True)


@settings(max_examples=20, deadline=None)
@given(st.integers(13, 16), st.integers(0, 99))
def test_beyond_the_exact_sizes_the_beam_finds_what_is_known(n: int, seed: int) -> None:
    """Additive games have a known best order there; the beam finds it."""
    rng = np.random.default_rng(seed)
    c = rng.normal(size=n)
    game = slow.additive(c.tolist())
    for metric in slow.PERTURBATION:
        assert testing.score(metric, game, c, normalised=True) == pytest.approx(1, abs=1e-9)
        assert testing.score(metric, game, -c, normalised=True) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("metric", slow.PERTURBATION)
@pytest.mark.parametrize("seed", range(4))
def test_best_above_random_above_worst_on_interacting_games(metric: str, seed: int) -> None:
    for n in (6, 14):
        game = slow.interacting(n, seed)
        assert 0 < testing.score(metric, game, np.zeros(n), normalised=True) < 1


@pytest.mark.parametrize("metric", slow.PERTURBATION)
def test_extremes_are_those_of_all_orders(metric: str) -> None:
    game = slow.interacting(6, 11)
    value = slow.value_of(game)
    one = slow.PERTURBATION[metric]
    found = [one(value, order) for order in itertools.permutations(range(6))]
    best, worst = max(found), min(found)
    if metric in slow.LOWER_IS_BETTER:
        best, worst = worst, best
    middle = testing.score(metric, game, [3, 1, 4, 1, 5, 9])
    got = testing.score(metric, game, [3, 1, 4, 1, 5, 9], normalised=True)
    assert got == pytest.approx((middle - worst) / (best - worst), abs=1e-9)


@pytest.mark.parametrize("metric", slow.PERTURBATION)
@pytest.mark.parametrize("n", [1, 4, 14])
def test_a_model_that_ignores_its_input_has_no_normalised_value(metric: str, n: int) -> None:
    flat = testing.game(n, lambda m: np.full(len(m), 0.7))
    scores = np.arange(n)
    level = 0.7 if metric.endswith("auc") else 0.0
    assert testing.score(metric, flat, scores) == pytest.approx(level, abs=1e-12)
    with pytest.raises(Undefined, match="coincide"):
        testing.score(metric, flat, scores, normalised=True)


@pytest.mark.parametrize("metric", slow.PERTURBATION)
def test_defaults_are_written_out_alike_everywhere(metric: str) -> None:
    """The list of metrics is read from the source, so it shows numbers rather than names."""
    asked = plugin_call.metric(metric)
    assert asked.bound.args["beam"] == BEAM
    assert asked.bound.args.get("bins", BINS) == BINS
