"""Gradient sum: the absolute sum of the target's gradient over the embedding (Abnar 2020)."""

import numpy as np

from attrial.ask import Asking, slope
from attrial.errors import Undefined
from attrial.example import Example
from attrial.masks import Scores

SIGN = "magnitude"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("slope",)
VERSION = 1

ROUNDING = 1e-4  # of a sum in float32, as a share of its terms; by chance alone it is 1/sqrt(d)


def gradient_sum_abs(x: Example, *, seed: int) -> Asking[Scores]:
    """Score each player by |sum_d dy/dx_d|, summed over its tokens.

    What Abnar & Zuidema 2020 compare attention with. Parts of opposite sign cancel before the
    absolute value is taken, which makes it another measure than a norm.

    Formula:
        s_i = Σ_{t in player i} |Σ_d ∂y/∂x_{t,d}|

    Source:
        Abnar & Zuidema, ACL 2020, arXiv:2005.00928.

    Traps:
        Where a layer norm stands right above the embeddings, as in BERT, it takes their mean out:
        no gradient goes along (1, ..., 1), the sum is rounding and nothing else, and the method
        says that it is undefined. Others rank that rounding.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.

    Raises:
        Undefined: If the sum is rounding at every position, though the gradient is not zero.
    """
    slopes = yield from slope(np.ones((1, x.n)), baseline="zero")
    gradient = slopes.gradient[0]
    total, size = np.abs(gradient.sum(-1)), np.abs(gradient).sum(-1)
    if size.any() and (total <= ROUNDING * size).all():
        raise Undefined("the gradient sums to zero over every embedding, as under a layer norm")
    return x.to_players(total)
