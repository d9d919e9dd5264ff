"""Attention Grad-CAM: heads weighted by the target's mean gradient in them (Selvaraju 2017)."""

import numpy as np

from attrial.ask import Asking, attend
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._read import layer_number, pick_row

SIGN = "nonnegative"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("attend",)
VERSION = 1


def attention_grad_cam(
    x: Example, *, seed: int, layer: str | int = "last", row: str = "read"
) -> Asking[Scores]:
    """Score each player by relu(sum_h g_h A_h) in one row; g_h is the mean of dy/dA_h over cells.

    The adaptation of Grad-CAM to attention as in Chefer et al. 2021.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        layer: ``last``, ``first`` or a number (0 comes first).
        row: The query: ``read``, ``last``, or ``mean`` or ``max`` over all positions.
    """
    reply = yield from attend(gradient=True)
    number = layer_number(len(reply.weights), layer)
    heads = np.asarray(reply.gradient)[number].mean((-2, -1))
    cam = np.maximum(np.tensordot(heads, reply.weights[number], axes=1), 0)
    return x.to_players(pick_row(cam, row, x.read))
