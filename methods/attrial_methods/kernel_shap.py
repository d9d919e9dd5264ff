"""Kernel SHAP: Shapley values as a weighted regression on sets (Lundberg & Lee 2017)."""

from math import comb

import numpy as np

from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import Floats, Masks, Scores, all_subsets, everything, nothing
from attrial_methods._gap import gap_noted
from attrial_methods._options import at_least
from attrial_methods._sets import affordable, sets_of_sizes
from attrial_methods._surrogate import constrained

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def kernel_shap(x: Example, *, seed: int, samples: int = 1000) -> Asking[Scores]:
    """Score each player by its slope in the regression whose solution is the Shapley value.

    ``samples`` counts model rows, the full and the empty set included. With all 2^n sets (if
    ``samples`` pays for them) the answer is exact. Otherwise sets are drawn by their weight, each
    with its complement (Covert & Lee 2021), and weigh alike.

    Formula:
        min_s Σ_S w(S) (v(S) − v(none) − Σ_{i in S} s_i)²,  Σ_i s_i = v(all) − v(none)
        w(S) = (n − 1) / (C(n, |S|) |S| (n − |S|))

    Source:
        Lundberg & Lee, NeurIPS 2017, arXiv:1705.07874; pairs: Covert & Lee, AISTATS 2021,
        arXiv:2012.01536.

    Traps:
        captum's default of 25 samples is no Shapley value of anything. Weighing drawn sets by w
        again counts w twice. Noise is spread over players by the constraint: scores sum right even
        where each is wrong.

    Args:
        x: The example.
        seed: Of the sets, where they are drawn.
        samples: Model rows.
    """
    at_least("kernel_shap", "samples", samples, 4)
    sets, weights = _design(x.n, samples, seed)
    values = yield from keep(np.concatenate([nothing(x.n), everything(x.n), sets]))
    change = float(values[1] - values[0])
    scores = constrained(sets, values[2:] - values[0], weights, change)
    return (yield from gap_noted(scores, change))


def _design(n: int, samples: int, seed: int) -> tuple[Masks, Floats]:
    """Sets (k, n), neither full nor empty, and their weights (k,)."""
    sizes = np.arange(1, n)
    mass = (n - 1) / (sizes * (n - sizes))
    if affordable(n, samples):
        sets = all_subsets(n)[1:-1]
        each = mass / [comb(n, int(s)) for s in sizes]
        return sets, np.asarray(each[sets.sum(1) - 1])
    rng = np.random.default_rng(seed)
    drawn = sets_of_sizes(n, rng.choice(sizes, (samples - 2) // 2, p=mass / mass.sum()), rng)
    return np.concatenate([drawn, ~drawn]), np.ones(2 * len(drawn))
