"""Attention x gradient: attention weights times the target's gradient in them, in one row."""

import numpy as np

from attrial import algebra
from attrial.ask import Asking, attend
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._read import pick_layer, pick_row
from attrial_methods._stacks import read_by

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("attend",)
VERSION = 1


def attention_x_gradient(
    x: Example, *, seed: int, layer: str | int = "last", fusion: str = "mean", row: str = "read"
) -> Asking[Scores]:
    """Score each player by the fused heads' A * dy/dA in one row, summed over its tokens.

    Products are taken head by head, before any fusion, and keep their sign (Serrano & Smith 2019).

    Of two stacks the decoder's attention to the input is read, from its last position.

    Formula:
        P = fuse_h (A_h ⊙ ∂y/∂A_h)
        s_i = Σ_{t in player i} P[layer][row, t]

    Source:
        Serrano & Smith, ACL 2019, arXiv:1906.03731.

    Traps:
        First order only: where the softmax is saturated the gradient says nothing of what made it
        look there. Gradients of a model in train mode carry its dropout. Fusing heads before the
        product is another method. One row of one layer is read, as if its positions were still
        tokens.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        layer: ``last``, ``first``, ``mean`` or ``max`` over layers, or a number (0 comes first).
        fusion: ``mean``, ``max`` or ``min`` over heads.
        row: The query: ``read``, ``last``, or ``mean`` or ``max`` over all positions.
    """
    reply, read = read_by(x, (yield from attend(gradient=True, stacks=2)))
    products = algebra.fuse_any(reply.weights * np.asarray(reply.gradient), fusion)
    return x.to_players(pick_row(pick_layer(products, layer), row, read))
