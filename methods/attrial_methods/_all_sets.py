"""Shapley values and their interactions from the values of all 2^n sets; set s is number s."""

from itertools import combinations
from math import factorial

import numpy as np

from attrial.masks import Floats, Scores, Values, all_subsets


def shapley_values(values: Values, n: int) -> Scores:
    """Weighted mean rises over all sets without a player: (2^n,) -> (n,)."""
    sets, size = np.arange(2**n), all_subsets(n).sum(1)
    weight, scores = _weights(n, 1), np.empty(n)
    for i in range(n):
        without = sets[sets >> i & 1 == 0]
        scores[i] = weight[size[without]] @ (values[without | 1 << i] - values[without])
    return scores


def pair_indices(values: Values, n: int) -> Floats:
    """Shapley interaction indices of pairs: (2^n,) -> (n, n) with a zero diagonal."""
    sets, size = np.arange(2**n), all_subsets(n).sum(1)
    weight, pairs = _weights(n, 2), np.zeros((n, n))
    for i, j in combinations(range(n), 2):
        without = sets[(sets >> i & 1 == 0) & (sets >> j & 1 == 0)]
        a, b = without | 1 << i, without | 1 << j
        rise = values[a | b] - values[a] - values[b] + values[without]
        pairs[i, j] = pairs[j, i] = weight[size[without]] @ rise
    return pairs


def _weights(n: int, order: int) -> Floats:
    """Of sets of 0 to n - order players: s! (n - s - order)! / (n - order + 1)!."""
    sizes = range(n - order + 1)
    total = factorial(n - order + 1)
    return np.array([factorial(s) * factorial(n - s - order) / total for s in sizes])
