"""Gradient sum: the absolute sum of the target's gradient over the embedding (Abnar 2020)."""

import numpy as np

from attrial.ask import Asking, slope
from attrial.example import Example
from attrial.masks import Scores

SIGN = "magnitude"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("slope",)
VERSION = 1


def gradient_sum_abs(x: Example, *, seed: int) -> Asking[Scores]:
    """Score each player by |sum_d dy/dx_d|, summed over its tokens.

    What Abnar & Zuidema 2020 compare attention with. Parts of opposite sign cancel before the
    absolute value is taken, which makes it another measure than a norm.
    """
    slopes = yield from slope(np.ones((1, x.n)), baseline="zero")
    return x.to_players(np.abs(slopes.gradient[0].sum(-1)))
