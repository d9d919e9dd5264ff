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
    complement, and every one serves every player (maximum sample reuse, Wang & Jia 2023). The
    scores don't sum to v(all) - v(none) where players interact.

    Formula:
        s_i = 2^{−(n−1)} Σ_{S without i} [v(S + i) − v(S)]

    Source:
        Banzhaf, Rutgers Law Review 1965; the estimate: Wang & Jia, AISTATS 2023, arXiv:2205.15466.

    Traps:
        The scores don't sum to v(all) − v(none) where players interact: AND of three gets 1/4 each.
        Most sets hold about half the players, so on long texts it asks about inputs that the model
        is least used to. Sampled values have noise that near ties don't survive: look at seeds.

    Args:
        x: The example.
        seed: Of the sets, where they are drawn.
        samples: Model rows, where not all sets are asked.
        exact_up_to: Players up to which all 2^n sets are asked, whatever ``samples`` says.
    """
    at_least("banzhaf", "samples", samples, 2)
    exact = affordable(x.n, samples, exact_up_to=exact_up_to)
    sets = all_subsets(x.n) if exact else uniform_sets(x.n, samples // 2 * 2, seed)
    values = yield from keep(sets)
    holds = np.where(sets, 1.0, -1.0)  # each player is in half of the sets
    return np.asarray(values @ holds / (len(sets) / 2))
