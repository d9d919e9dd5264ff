"""Shapley values: the mean rise of the value when a player joins (Shapley 1953)."""

from math import factorial

import numpy as np

from attrial.ask import Asking, keep
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Floats, Ints, Scores, Values, all_subsets, prefixes

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = True
ASKS = ("keep",)
VERSION = 1


def shapley(
    x: Example, *, seed: int, exact_up_to: int = 12, permutations: int = 50
) -> Asking[Scores]:
    """Score each player by its Shapley value: exact for few players, sampled above.

    Up to ``exact_up_to`` players all 2^n sets are asked. Above, ``permutations`` orders are drawn
    in antithetic pairs (each with its reverse; Mitchell et al. 2022), n - 1 new rows an order.
    Either way the scores sum to v(all) - v(none).
    """
    if permutations < 1:
        raise AttrialError(f"shapley: permutations={permutations}; it takes 1 or more")
    if x.n <= exact_up_to:
        values = yield from keep(all_subsets(x.n))
        return _exact(values, x.n)
    orders = _antithetic(x.n, permutations, seed)
    values = yield from keep(np.concatenate([prefixes(order) for order in orders]))
    return _sampled(values.reshape(len(orders), x.n + 1), orders)


def _exact(values: Values, n: int) -> Scores:
    """Weighted marginal contributions over all sets; set s is the binary number s."""
    sets = np.arange(2**n)
    size = all_subsets(n).sum(1)
    weight = np.array([factorial(s) * factorial(n - 1 - s) / factorial(n) for s in range(n)])
    scores = np.empty(n)
    for i in range(n):
        without = sets[sets >> i & 1 == 0]
        rises = values[without | 1 << i] - values[without]
        scores[i] = weight[size[without]] @ rises
    return scores


def _antithetic(n: int, count: int, seed: int) -> Ints:
    """``count`` orders (count, n), every second one the reverse of the one before."""
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.permutation(n) for _ in range((count + 1) // 2)])
    return np.stack([drawn, drawn[:, ::-1]], axis=1).reshape(-1, n)[:count]


def _sampled(values: Floats, orders: Ints) -> Scores:
    """Mean rises over orders: values (orders, n + 1) along each order's prefixes."""
    rises = np.diff(values, axis=1)
    scores = np.empty_like(rises)
    np.put_along_axis(scores, orders, rises, axis=1)
    return np.asarray(scores.mean(0))
