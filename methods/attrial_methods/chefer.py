"""Generic attention explainability: positive attention x gradient, rolled out (Chefer 2021)."""

import numpy as np

from attrial import algebra
from attrial.ask import Asking, attend
from attrial.example import Example
from attrial.masks import Scores

SIGN = "nonnegative"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("attend",)
VERSION = 1


def chefer(x: Example, *, seed: int, start: int = 0) -> Asking[Scores]:
    """Score each player by its relevance in the read row of R = (I + B_L) ... (I + B_1).

    B is the mean over heads of relu(A * dy/dA) (Chefer, Gur & Wolf 2021, ICCV). Evidence against
    the target is cut off, and a saturated softmax hides what made it look where it does.
    ``start`` is the first layer that counts.
    """
    reply = yield from attend(gradient=True)
    relevance = algebra.chefer(reply.weights, np.asarray(reply.gradient), start=start)
    return x.to_players(relevance[x.read])
