"""Generic attention explainability: positive attention x gradient, rolled out (Chefer 2021)."""

from typing import Literal

import numpy as np

from attrial import algebra
from attrial.ask import Asking, attend
from attrial.errors import NotApplicable
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._stacks import SPOKEN, everywhere, three

SIGN = "nonnegative"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("attend",)
VERSION = 1


def chefer(
    x: Example, *, seed: int, start: int = 0, rule: Literal["strict", "published"] = "strict"
) -> Asking[Scores]:
    """Score each player by its relevance in the read row of R = (I + B_L) ... (I + B_1).

    Evidence against the target is cut off, and a saturated softmax hides what made it look where it
    does.

    Of two stacks it is R_sq of the decoder's last position, by rules 6, 7 and 10 of the paper: the
    tenth with every path once, or as published.

    Formula:
        B_l = mean_h relu(A_l,h ⊙ ∂y/∂A_l,h)
        R = (I + B_L) ... (I + B_1),  rows not scaled
        s_i = Σ_{t in player i} R[read, t]
        Two stacks, a layer that looks at the encoder:
          strict      R_sq += B_sq R_qq
          published   R_sq += N(R_ss)ᵀ B_sq N(R_qq),  N(R) = I + (R - I) with rows of sum 1

    Source:
        Chefer, Gur, Wolf, ICCV 2021, arXiv:2103.15679, rules 5, 6, 7 and 10.

    Traps:
        relu before and after the head mean are two methods. It explains one class but never shows
        evidence against it. The published code overwrites the score of the position that is read,
        and its LRP variant starts at the last layer by default: neither is done here. A key that
        was attended to with a saturated softmax gets 0 though removing it changes the answer. The
        published rule 10 transposes R_ss, so that a decoder position is credited with what later
        ones looked at, which no path carries to it.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        start: The first layer that counts (0 is nearest the input).
        rule: Of two stacks, ``strict`` or ``published``. One stack has no cross attention, and both
            are the same there.
    """
    reply = yield from attend(gradient=True, stacks=2)
    if reply.cross is None:
        relevance = algebra.chefer(reply.weights, np.asarray(reply.gradient), start=start)
        return x.to_players(relevance[x.read])
    if start:
        raise NotApplicable("with two stacks all layers count")
    encoder, decoder, cross = ((p.weights, np.asarray(p.gradient)) for p in three(reply))
    said, source = algebra.chefer_encoder_decoder(encoder, decoder, cross, rule=rule)
    return x.to_players(everywhere(x, source[SPOKEN], said[SPOKEN]))
