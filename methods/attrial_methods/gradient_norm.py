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
    """Score each player by the L1 or L2 norm of the target's gradient, summed over its tokens.

    Formula:
        s_i = Σ_{t in player i} ‖∂y/∂x_t‖_p,  p = order

    Source:
        Simonyan, Vedaldi, Zisserman, ICLR workshop 2014, arXiv:1312.6034.

    Traps:
        Unsigned: evidence against the target counts as evidence for it. A gradient is sensitivity,
        not contribution; where the target is saturated it is near 0 everywhere. L1, L2, mean and
        sum over the embedding are unlike methods under one name: ferret's "Gradient" is an L1 norm.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        order: 1 or 2: which norm over the embedding.
    """
    if order not in (1, 2):
        raise AttrialError(f"gradient_norm: order={order}; it takes 1 or 2")
    slopes = yield from slope(np.ones((1, x.n)), baseline="zero")
    return x.to_players(np.linalg.norm(slopes.gradient[0], ord=order, axis=-1))
