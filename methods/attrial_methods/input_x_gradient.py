"""Input x gradient: the target's first-order part in each player (Shrikumar et al. 2017)."""

import numpy as np

from attrial.ask import Asking, slope
from attrial.example import Example
from attrial.masks import Scores

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("slope",)
VERSION = 1


def input_x_gradient(x: Example, *, seed: int) -> Asking[Scores]:
    """Score each player by the dot product of its word embeddings and the target's gradient there.

    Exact (equal to removal by zero) where the target is linear in the embeddings, and blind where
    it is saturated.

    Formula:
        s_i = Σ_{t in player i} ⟨x_t, ∂y/∂x_t⟩,  x_t the word embedding

    Source:
        Shrikumar, Greenside, Shcherbina, Kundaje, 2016, arXiv:1605.01713.

    Traps:
        The input must be the word embedding; at the output of the first layer norm the product is
        another one. The baseline is zero in disguise, which means nothing to a model that norms its
        inputs. First order only.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
    """
    slopes = yield from slope(np.ones((1, x.n)), baseline="zero")
    return x.to_players((slopes.gradient * slopes.difference).sum(-1)[0])
