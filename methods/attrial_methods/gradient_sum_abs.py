"""Gradient sum: the absolute sum of the target's gradient over the embedding (Abnar 2020)."""

import numpy as np

from attrial.ask import Asking, slope
from attrial.errors import AttrialError, Undefined
from attrial.example import Example
from attrial.masks import Scores

SIGN = "magnitude"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("slope",)
VERSION = 2  # taken where the first layer begins, no longer at the word embeddings

ROUNDING = 1e-4  # of a sum in float32, as a share of its terms; by chance alone it is 1/sqrt(d)


def gradient_sum_abs(x: Example, *, seed: int, at: str = "layers") -> Asking[Scores]:
    """Score each player by |sum_d dy/dx_d|, summed over its tokens.

    What Abnar & Zuidema 2020 compare attention with. Parts of opposite sign cancel before the
    absolute value is taken, which makes it another measure than a norm.

    Formula:
        s_i = Σ_{t in player i} |Σ_d ∂y/∂x_{t,d}|,  x what the first layer takes

    Source:
        Abnar & Zuidema, ACL 2020, arXiv:2005.00928.

    Traps:
        Under a layer norm the sum says nothing: the norm takes the mean out, no gradient goes along
        (1, ..., 1), and what is left is rounding. So it is at the word embeddings of BERT and its
        kin, whose norm stands right above them, and everywhere in GPT-2, where every reader of the
        stream has a norm. Then the method says that it is undefined; others rank the rounding.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        at: ``layers`` (what the first layer takes: behind the norm on the embeddings, where there
            is one) or ``words`` (the word embeddings).

    Raises:
        Undefined: If the sum is rounding at every position, though the gradient is not zero.
    """
    if at not in ("layers", "words"):
        raise AttrialError(f"gradient_sum_abs: at={at!r}; it takes layers or words")
    slopes = yield from slope(np.ones((1, x.n)), baseline="zero", at=at)
    gradient = slopes.gradient[0]
    total, size = np.abs(gradient.sum(-1)), np.abs(gradient).sum(-1)
    if size.any() and (total <= ROUNDING * size).all():
        raise Undefined("the gradient sums to zero over every embedding, as under a layer norm")
    return x.to_players(total)
