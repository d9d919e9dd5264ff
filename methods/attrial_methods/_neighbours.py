"""Sets of players near the whole input, as LIME draws and weighs them."""

from math import comb

import numpy as np

from attrial.masks import Floats, Masks, all_subsets, everything
from attrial_methods._sets import affordable, sets_of_sizes, uniform_sets


def neighbours(n: int, samples: int, sampling: str, seed: int) -> tuple[Masks, Floats]:
    """Sets (k, n) and how often each counts (k,)."""
    if sampling == "uniform":
        sets = uniform_sets(n, samples, seed)
        return sets, np.full(len(sets), samples / len(sets))
    if affordable(n, samples):
        sets = all_subsets(n)
        each = [1 / (n * comb(n, s)) for s in range(n)]  # kept 0 to n - 1
        return sets, np.array([(samples - 1) * p for p in each] + [1.0])[sets.sum(1)]
    rng = np.random.default_rng(seed)
    drawn = sets_of_sizes(n, rng.integers(0, n, samples - 1), rng)
    return np.concatenate([everything(n), drawn]), np.ones(samples)


def kernel(sets: Masks, width: float | None) -> Floats:
    """Weights (k,) of sets (k, n) by their cosine distance to all; ones without a width."""
    if width is None:
        return np.ones(len(sets))
    distance = 100 * (1 - np.sqrt(sets.mean(1)))  # cosine of a 0/1 vector with the full one
    return np.asarray(np.exp(-(distance**2) / (2 * width**2)))
