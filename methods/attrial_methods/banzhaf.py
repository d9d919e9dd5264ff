"""Banzhaf values: the rise when a player joins, averaged over all sets alike (Banzhaf 1965)."""

import numpy as np

from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import Scores, all_subsets
from attrial_methods._options import at_least
from attrial_methods._sets import affordable, uniform_sets

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def banzhaf(x: Example, *, seed: int, samples: int = 1000, exact_up_to: int = 12) -> Asking[Scores]:
    """Score each player by the mean value of the sets that hold it, minus that of the others.

    Up to ``exact_up_to`` players, or where ``samples`` pays for it, all 2^n sets are asked: this is
    the Banzhaf value. Above, ``samples`` sets are drawn with keep probability 1/2, each with its
    complement, and every one serves every player (maximum sample reuse, Wang & Jia 2023).
    The scores don't sum to v(all) - v(none) where players interact.
    """
    at_least("banzhaf", "samples", samples, 2)
    exact = affordable(x.n, samples, exact_up_to=exact_up_to)
    sets = all_subsets(x.n) if exact else uniform_sets(x.n, samples // 2 * 2, seed)
    values = yield from keep(sets)
    holds = np.where(sets, 1.0, -1.0)  # each player is in half of the sets
    return np.asarray(values @ holds / (len(sets) / 2))
