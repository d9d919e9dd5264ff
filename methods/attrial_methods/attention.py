"""Raw attention: how much one row of one layer's attention gives to each player."""

import numpy as np

from attrial.ask import Asking, attend
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Floats, Scores
from attrial_methods._read import pick_layer, pick_row

SIGN = "nonnegative"
CLASS_SPECIFIC = False
ADDITIVE = False
STOCHASTIC = False
ASKS = ("attend",)
VERSION = 1


def attention(
    x: Example,
    *,
    seed: int,
    layer: str | int = "last",
    fusion: str = "mean",
    head: int | None = None,
    row: str = "read",
) -> Asking[Scores]:
    """Score each player by the attention that its tokens get, summed over them.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        layer: ``last``, ``first``, ``mean`` or ``max`` over layers, or a number (0 comes first).
        fusion: ``mean``, ``max`` or ``min`` over heads.
        head: One head instead of a fusion.
        row: The query: ``read`` (the position that the answer is read from), ``last``, or ``mean``
            or ``max`` over all positions.
    """
    reply = yield from attend(fuse=None if head is not None else fusion)
    weights = reply.weights if head is None else _head(reply.weights, head)
    return x.to_players(pick_row(pick_layer(weights, layer), row, x.read))


def _head(weights: Floats, head: int) -> Floats:
    if not 0 <= head < weights.shape[1]:
        raise AttrialError(f"attention: head={head}; the model has {weights.shape[1]} heads")
    return np.asarray(weights[:, head])
