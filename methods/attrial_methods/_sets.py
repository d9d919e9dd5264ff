"""Sets of players to ask about: all of them where the budget allows it, drawn ones otherwise."""

import numpy as np

from attrial.masks import Ints, Masks, all_subsets


def affordable(n: int, samples: int, *, exact_up_to: int = 0) -> bool:
    """Whether all 2^n sets are asked."""
    return n <= exact_up_to or 2**n <= samples


def uniform_sets(n: int, count: int, seed: int) -> Masks:
    """All sets if ``count`` pays for them, else ``count`` drawn with keep probability 1/2.

    Every second drawn set is the complement of the one before, so that each player is kept in half
    of them.
    """
    if affordable(n, count):
        return all_subsets(n)
    drawn = np.random.default_rng(seed).random(((count + 1) // 2, n)) < 0.5
    return np.stack([drawn, ~drawn], axis=1).reshape(-1, n)[:count]


def sets_of_sizes(n: int, sizes: Ints, rng: np.random.Generator) -> Masks:
    """A set drawn evenly among those of each size: (k,) -> (k, n)."""
    rank = rng.permuted(np.tile(np.arange(n), (len(sizes), 1)), axis=1)
    return np.asarray(rank < sizes[:, None])
