"""The row that is read of one layer's matrix, or of all layers' multiplied; residuals in them."""

import numpy as np

from attrial import algebra
from attrial.ask import Asking, layers
from attrial.errors import AttrialError
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


def mixing(residual: float | list[float] | str) -> Asking[float | list[float] | Floats]:
    """Shares of the identity: as given, or (L, t) from the norms of what each layer adds up."""
    if not isinstance(residual, str):
        return residual
    if residual != "norms":
        raise AttrialError(f"attention_rollout: residual={residual!r}; a share, a list or norms")
    reply = yield from layers("mixing")
    return np.asarray(np.diagonal(reply.weights, axis1=1, axis2=2))
