"""Attention rollout: attention multiplied through layers and residuals (Abnar & Zuidema 2020)."""

from attrial import algebra
from attrial.ask import Asking, attend
from attrial.example import Example
from attrial.masks import Scores

SIGN = "nonnegative"
CLASS_SPECIFIC = False
ADDITIVE = False
STOCHASTIC = False
ASKS = ("attend",)
VERSION = 1


def attention_rollout(
    x: Example, *, seed: int, residual: float = 0.5, fusion: str = "mean"
) -> Asking[Scores]:
    """Score each player by its share in the row of R = A_L ... A_1 that the answer is read from.

    Each layer's matrix is (1 - ``residual``) A + ``residual`` I with heads fused. It sees no
    class, so it can't tell evidence for a class from evidence against it.
    """
    reply = yield from attend(fuse=fusion)
    rolled = algebra.rollout(reply.weights, residual=residual)
    return x.to_players(rolled[x.read])
