"""Shapley values: the mean rise of the value when a player joins (Shapley 1953)."""

from math import factorial

import numpy as np

from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import (
    Ints,
    Masks,
    Scores,
    Values,
    all_subsets,
    everything,
    nothing,
    prefixes,
)
from attrial_methods._options import at_least
from attrial_methods._sets import affordable

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def shapley(x: Example, *, seed: int, samples: int = 1000, exact_up_to: int = 12) -> Asking[Scores]:
    """Score each player by its Shapley value: exact for few players, sampled above.

    Up to ``exact_up_to`` players, or where ``samples`` pays for it, all 2^n sets are asked. Above,
    orders are drawn in antithetic pairs (each with its reverse) while ``samples`` model rows last:
    n - 1 an order. Either way the scores sum to v(all) - v(none).

    Formula:
        s_i = Σ_{S without i} |S|! (n − 1 − |S|)! / n! · [v(S + i) − v(S)]

    Source:
        Shapley, Contributions to the Theory of Games II, 1953; antithetic orders: Mitchell et al.,
        JMLR 2022, arXiv:2104.12199.

    Traps:
        It averages over inputs of every size, most of which are no text: the value under the
        removal is what it explains. With captum's 25 orders long texts are noise. A masker that
        merges neighbouring gaps changes the length of the input, and with it the game. Players that
        are needed together share equally, whatever their order.

    Args:
        x: The example.
        seed: Of the orders, where they are drawn.
        samples: Model rows, where not all sets are asked.
        exact_up_to: Players up to which all 2^n sets are asked, whatever ``samples`` says.
    """
    at_least("shapley", "samples", samples, 1)
    if affordable(x.n, samples, exact_up_to=exact_up_to):
        values = yield from keep(all_subsets(x.n))
        return _exact(values, x.n)
    orders = _antithetic(x.n, max(1, (samples - 2) // (2 * (x.n - 1))), seed)
    values = yield from keep(_rows(orders))
    return _sampled(values, orders)


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


def _antithetic(n: int, pairs: int, seed: int) -> Ints:
    """Orders (2 pairs, n), every second one the reverse of the one before."""
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.permutation(n) for _ in range(pairs)])
    return np.stack([drawn, drawn[:, ::-1]], axis=1).reshape(-1, n)


def _rows(orders: Ints) -> Masks:
    """Nothing, everything, and what stands between them along each order."""
    n = orders.shape[1]
    between = [prefixes(order)[1:-1] for order in orders]
    return np.concatenate([nothing(n), everything(n), *between])


def _sampled(values: Values, orders: Ints) -> Scores:
    """Mean rises over orders, from the values of ``_rows``."""
    ends = np.broadcast_to(values[:2, None, None], (2, len(orders), 1))
    along = [ends[0], values[2:].reshape(len(orders), -1), ends[1]]
    rises = np.diff(np.concatenate(along, axis=1), axis=1)
    scores = np.empty_like(rises)
    np.put_along_axis(scores, orders, rises, axis=1)
    return np.asarray(scores.mean(0))
