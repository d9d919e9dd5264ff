"""Sobol index: the share of the value's variance that a player takes part in (Fel et al. 2021)."""

import numpy as np

from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import Floats, Ints, Scores, Values, all_subsets
from attrial_methods._options import at_least
from attrial_methods._sets import affordable, uniform_sets

SIGN = "magnitude"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def sobol(x: Example, *, seed: int, samples: int = 1000, exact_up_to: int = 12) -> Asking[Scores]:
    """Score each player by its total Sobol index: E[(v(with) - v(without))^2] / 4 Var v.

    All 2^n sets are asked up to ``exact_up_to`` players or where ``samples`` pays for it. Above, at
    least two sets are drawn in complementary pairs and each is asked again with every single player
    changed (Jansen's estimator): n + 1 rows a set. 0 for all where the value never changes.

    Formula:
        s_i = E[(v(S with i) − v(S without i))²] / 4 Var v(S)
        each player in S with probability 1/2

    Source:
        Fel et al., NeurIPS 2021, arXiv:2111.04138; the estimator: Jansen, Computer Physics
        Communications 1999.

    Traps:
        No sign: evidence against the target counts as evidence for it does. Sums above 1 are
        interactions counted by each of their players. Estimates from few sets can leave [0, 1], and
        order near-irrelevant players by noise.

    Args:
        x: The example.
        seed: Of the sets, where they are drawn.
        samples: Model rows, where not all sets are asked.
        exact_up_to: Players up to which all 2^n sets are asked, whatever ``samples`` says.
    """
    at_least("sobol", "samples", samples, 2)
    if affordable(x.n, samples, exact_up_to=exact_up_to):
        values = yield from keep(all_subsets(x.n))
        return _index(values, values[_changed(x.n)])
    base = uniform_sets(x.n, max(2, samples // (x.n + 1)), seed)
    rows = np.concatenate([base[:, None], base[:, None] ^ np.eye(x.n, dtype=bool)], axis=1)
    values = yield from keep(rows.reshape(-1, x.n))
    asked = values.reshape(len(base), x.n + 1)
    return _index(asked[:, 0], asked[:, 1:])


def _changed(n: int) -> Ints:
    """The number of each set with each player changed: (2^n, n)."""
    return np.asarray(np.arange(2**n)[:, None] ^ (1 << np.arange(n))[None, :])


def _index(values: Values, changed: Floats) -> Scores:
    """Values (k,) and those with each player changed (k, n) -> (n,)."""
    spread = np.var(np.concatenate([values[:, None], changed], axis=1))
    effect = ((values[:, None] - changed) ** 2).mean(0) / 4
    return np.asarray(effect / spread if spread > 0 else np.zeros_like(effect))
