"""Metrics again, slow and plain: one order at a time, one set at a time, no code shared."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np

from attrial import testing
from attrial.games import Game
from attrial.masks import Floats, Masks

Value = Callable[[frozenset[int]], float]
Order = tuple[int, ...]  # most relevant first
OneOrder = Callable[[Value, Order], float]


def interacting(n: int, seed: int) -> Game:
    """A game of n players whose worth depends on company: pairs, ANDs and ORs."""
    rng = np.random.default_rng(seed)
    alone, pairs = rng.normal(size=n), np.triu(rng.normal(size=(n, n)), 1)
    groups = [rng.permutation(n)[: rng.integers(2, 4)] for _ in range(3)]

    def value(masks: Masks) -> Floats:
        z = masks @ alone + ((masks @ pairs) * masks).sum(1)
        z += sum(masks[:, g].any(1).astype(float) - masks[:, g].all(1) for g in groups)
        return np.asarray(1 / (1 + np.exp(-z)))

    return testing.game(n, value)


def additive(weights: Sequence[float]) -> Game:
    """The kept players' weights, summed."""
    return testing.game(len(weights), lambda masks: masks @ np.asarray(weights))


def value_of(game: Game) -> Value:
    """A game's value of a set of players."""

    @cache
    def value(kept: frozenset[int]) -> float:
        row = np.array([[i in kept for i in range(game.example.n)]])
        return float(np.asarray(game.value(row))[0])

    return value


def orders(scores: Sequence[float]) -> Iterator[Order]:
    """Every order, highest score first, that breaks the ties of the scores in some way."""
    levels = sorted(set(scores), reverse=True)
    groups = [[i for i, s in enumerate(scores) if s == level] for level in levels]
    for parts in itertools.product(*(itertools.permutations(g) for g in groups)):
        yield tuple(itertools.chain.from_iterable(parts))


def over_ties(game: Game, scores: Sequence[float], one: OneOrder) -> float:
    """Mean over every way to break the ties."""
    value = value_of(game)
    found = [one(value, order) for order in orders(scores)]
    return sum(found) / len(found)


def removed(value: Value, order: Order) -> list[float]:
    """Values after the first 0, 1, ..., n players of the order left."""
    return [value(frozenset(order[k:])) for k in range(len(order) + 1)]


def added(value: Value, order: Order) -> list[float]:
    """Values with the first 0, 1, ..., n players of the order alone."""
    return [value(frozenset(order[:k])) for k in range(len(order) + 1)]


def trapezoids(heights: Sequence[float]) -> float:
    """Area over [0, 1], one trapezoid at a time."""
    width = 1 / (len(heights) - 1)
    return sum(width * (a + b) / 2 for a, b in itertools.pairwise(heights))


def deletion_auc(value: Value, order: Order) -> float:
    """One order's area under the deletion curve."""
    return trapezoids(removed(value, order))


def insertion_auc(value: Value, order: Order) -> float:
    """One order's area under the insertion curve."""
    return trapezoids(added(value, order))


def aopc(value: Value, order: Order) -> float:
    """One order's mean drop over k = 1..n."""
    curve = removed(value, order)
    return sum(curve[0] - v for v in curve[1:]) / len(order)


# ceil(share x n) in whole percents, so that no floating point enters.
PERCENTS = (1, 5, 10, 20, 50)


def sizes(n: int) -> list[int]:
    """Players in each of ERASER's bins."""
    return [-(-percent * n // 100) for percent in PERCENTS]


def comprehensiveness(value: Value, order: Order) -> float:
    """One order's mean drop as ERASER's code has it."""
    whole = value(frozenset(order))
    drops = [whole - value(frozenset(order[k:])) for k in sizes(len(order))]
    return sum(drops) / len(drops)


def sufficiency(value: Value, order: Order) -> float:
    """One order's mean drop with the top alone, as ERASER's code has it."""
    whole = value(frozenset(order))
    drops = [whole - value(frozenset(order[:k])) for k in sizes(len(order))]
    return sum(drops) / len(drops)


PERTURBATION: dict[str, OneOrder] = {
    "deletion_auc": deletion_auc,
    "insertion_auc": insertion_auc,
    "aopc": aopc,
    "comprehensiveness": comprehensiveness,
    "sufficiency": sufficiency,
}
LOWER_IS_BETTER = {"deletion_auc", "sufficiency"}
