"""The row that is read of one layer's matrix, or of all layers' multiplied."""

from attrial import algebra
from attrial.example import Example
from attrial.masks import Floats, Scores
from attrial_methods._read import pick_layer


def composed(
    x: Example, matrices: Floats, *, residual: float, layer: str | int, start: int
) -> Scores:
    """Players' shares of the position that is read: (L, t, t) -> (n,).

    ``layer="rollout"`` multiplies the layers from ``start`` on, each mixed with ``residual`` of the
    identity; any other layer is taken as it is.
    """
    if layer == "rollout":
        return x.to_players(algebra.rollout(matrices, residual, start=start)[x.read])
    return x.to_players(pick_layer(matrices, layer)[x.read])
