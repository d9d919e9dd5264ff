"""Attention Grad-CAM: heads weighted by the target's mean gradient in them (Selvaraju 2017)."""

import numpy as np

from attrial.ask import Asking, attend
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._read import layer_number, pick_row
from attrial_methods._stacks import read_by

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

    Of two stacks the decoder's attention to the input is read, from its last position.

    Formula:
        g_h = mean_{cells} ∂y/∂A_h,  C = relu(Σ_h g_h A_h),  one layer
        s_i = Σ_{t in player i} C[row, t]

    Source:
        Selvaraju et al., ICCV 2017, arXiv:1610.02391; for attention: Chefer, Gur, Wolf, ICCV 2021,
        arXiv:2103.15679.

    Traps:
        Evidence against the target is cut off. Where every head's gradient is negative all scores
        are 0, a tie of everything. A mean over cells that includes padding dilutes the heads'
        weights. One layer is read, as if its positions were still tokens.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        layer: ``last``, ``first`` or a number (0 comes first).
        row: The query: ``read``, ``last``, or ``mean`` or ``max`` over all positions.
    """
    reply, read = read_by(x, (yield from attend(gradient=True, stacks=2)))
    number = layer_number(len(reply.weights), layer)
    heads = np.asarray(reply.gradient)[number].mean((-2, -1))
    cam = np.maximum(np.tensordot(heads, reply.weights[number], axes=1), 0)
    return x.to_players(pick_row(cam, row, read))
