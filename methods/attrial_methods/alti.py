"""ALTI: by how much an output is nearer to zero without what a token hands on (Ferrando 2022)."""

from attrial.ask import Asking, layers
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._compose import composed

SIGN = "nonnegative"
CLASS_SPECIFIC = False
ADDITIVE = False
STOCHASTIC = False
ASKS = ("layers",)
VERSION = 1


def alti(x: Example, *, seed: int, layer: str | int = "rollout", start: int = 0) -> Asking[Scores]:
    """Score each player by its contribution to the position that is read, rolled out.

    A layer's output y_i up to its first sum (and the layer norm on it, at its scale) is a sum of
    vectors T_i(x_j), one a key, with the residual in that of its own position. Key j contributes
    max(0, |y_i| - |y_i - T_i(x_j)|) in absolute sums, rows scaled to sum 1. The residual is in the
    matrices, so rollout adds none (Ferrando, Gállego & Costa-jussà 2022).

    Formula:
        y_i = Σ_j T_i(x_j) + bias,  residual and layer norm's scale in T
        C[i, j] = max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁),  rows scaled to sum 1
        s_i = Σ_{t in player i} (C_L ... C_1)[read, t]

    Source:
        Ferrando, Gállego, Costa-jussà, EMNLP 2022 (ALTI), arXiv:2203.04212.

    Traps:
        The residual is in the matrices: rollout with another identity counts it twice. The second
        layer norm and the feed-forward part are left out, so what they turn round is not seen. It
        sees no class and no sign.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        layer: ``rollout`` multiplies all layers; or ``first``, ``last``, ``mean`` or ``max`` over
            layers, or a number (0 comes first), as they are.
        start: First layer that counts in ``rollout``.
    """
    reply = yield from layers("alti")
    return composed(x, reply.weights, residual=0.0, layer=layer, start=start)
