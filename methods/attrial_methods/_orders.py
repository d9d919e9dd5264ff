"""Orders of the players, the sets along them, and the mean rises when each player joins."""

import numpy as np

from attrial.masks import Ints, Masks, Scores, Values, everything, nothing, prefixes


def antithetic(n: int, pairs: int, seed: int) -> Ints:
    """Orders (2 pairs, n), every second one the reverse of the one before."""
    rng = np.random.default_rng(seed)
    drawn = np.array([rng.permutation(n) for _ in range(pairs)])
    return np.stack([drawn, drawn[:, ::-1]], axis=1).reshape(-1, n)


def walks(orders: Ints) -> Masks:
    """Nothing, everything, and what stands between them along each order."""
    n = orders.shape[1]
    between = [prefixes(order)[1:-1] for order in orders]
    return np.concatenate([nothing(n), everything(n), *between])


def mean_rises(values: Values, orders: Ints) -> Scores:
    """Mean rises over orders, from the values of ``walks``."""
    ends = np.broadcast_to(values[:2, None, None], (2, len(orders), 1))
    along = [ends[0], values[2:].reshape(len(orders), -1), ends[1]]
    rises = np.diff(np.concatenate(along, axis=1), axis=1)
    scores = np.empty_like(rises)
    np.put_along_axis(scores, orders, rises, axis=1)
    return np.asarray(scores.mean(0))
