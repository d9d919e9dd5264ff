"""Gradient norm: how steep the target is in each player's embeddings (Simonyan et al. 2014)."""

import numpy as np

from attrial.ask import Asking, slope
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Scores

SIGN = "magnitude"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("slope",)
VERSION = 1


def gradient_norm(x: Example, *, seed: int, order: int = 2) -> Asking[Scores]:
    """Score each player by the L1 or L2 norm of the target's gradient, summed over its tokens."""
    if order not in (1, 2):
        raise AttrialError(f"gradient_norm: order={order}; it takes 1 or 2")
    slopes = yield from slope(np.ones((1, x.n)), baseline="zero")
    return x.to_players(np.linalg.norm(slopes.gradient[0], ord=order, axis=-1))
