"""Value zeroing: how far outputs turn when a token's value is zero at one layer (Mohebbi 2023)."""

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


def value_zeroing(
    x: Example, *, seed: int, layer: str | int = "rollout", start: int = 0
) -> Asking[Scores]:
    """Score each player by how far it turns the position that is read, rolled out.

    A layer's matrix is the cosine distance of output i, feed-forward part included, from what it is
    with the value vectors of key j at zero in all heads; attention weights stay. Rows are scaled to
    sum 1; one that nothing turns keeps to itself. Rollout adds no residual (Mohebbi et al. 2023).

    Formula:
        C[i, j] = cosine distance of (output i of the layer, the same with value j := 0)
        rows scaled to sum 1
        s_i = Σ_{t in player i} (C_L ... C_1)[read, t]

    Source:
        Mohebbi, Zuidema, Chrupała, Alishahi, EACL 2023, arXiv:2301.12971.

    Traps:
        A row that nothing turns sums to 0: divided without a guard it is not a number. A cosine
        doesn't see length. It sees no class and no sign, and costs a pass a layer and position.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        layer: ``rollout`` multiplies all layers; or ``first``, ``last``, ``mean`` or ``max`` over
            layers, or a number (0 comes first), as they are.
        start: First layer that counts in ``rollout``.
    """
    reply = yield from layers("value_zeroing")
    return composed(x, reply.weights, residual=0.0, layer=layer, start=start)
