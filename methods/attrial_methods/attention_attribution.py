"""Attention attribution: gradients integrated as a layer's attention grows (Hao et al. 2021)."""

import numpy as np

from attrial.ask import Asking, attend
from attrial.example import Example
from attrial.masks import Floats, Scores
from attrial_methods._options import within
from attrial_methods._quadrature import rule
from attrial_methods._read import layer_number, pick_row
from attrial_methods._stacks import read_by
from attrial_methods._ways import MOST

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("attend",)
VERSION = 1


def attention_attribution(
    x: Example,
    *,
    seed: int,
    layer: str | int = "last",
    row: str = "read",
    steps: int = 20,
    quadrature: str = "gauss_legendre",
) -> Asking[Scores]:
    """Score each player by sum_h A_h * integral_0^1 dy(a A)/dA_h da in one row (AttAttr).

    One layer's weights are scaled by a, the others are what they come to be. Over all cells and
    heads the products sum to y minus y with that layer's attention at zero.

    Of two stacks the decoder's attention to the input is scaled and read, from its last position.

    Formula:
        P = Σ_h A_h ⊙ ∫_0^1 ∂y(a·A)/∂A_h da,  one layer
        s_i = Σ_{t in player i} P[row, t]

    Source:
        Hao et al., AAAI 2021 (AttAttr), arXiv:2004.11207.

    Traps:
        One row of one layer is read, and only the sum over all cells is complete. Left sums include
        the point without attention, right sums leave it out: the paper's rule is ``right``, the
        default here is exact for far fewer steps. What happened in the layers below is not traced
        to the input.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        layer: ``last``, ``first`` or a number (0 comes first).
        row: The query: ``read``, ``last``, or ``mean`` or ``max`` over all positions.
        steps: Gradients asked for.
        quadrature: ``gauss_legendre``, ``midpoint``, ``trapezoid``, ``left``, or ``right`` (the
            paper's).
    """
    within("attention_attribution", "steps", steps, 1, MOST)
    full, read = read_by(x, (yield from attend(stacks=2)))
    number = layer_number(len(full.weights), layer)
    integral: Floats = np.zeros_like(full.weights[number])
    for at, weight in zip(*rule(quadrature, steps), strict=True):
        reply = yield from attend(gradient=True, scale=float(at), layer=number, stacks=2)
        integral += weight * np.asarray(read_by(x, reply)[0].gradient)[number]
    products = (full.weights[number] * integral).sum(0)
    return x.to_players(pick_row(products, row, read))
