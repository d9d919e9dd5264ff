"""Raw attention: how much one row of one layer's attention gives to each player."""

import numpy as np

from attrial.ask import Asking, attend
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Floats, Scores

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
    return x.to_players(_row(_layer(weights, layer), row, x.read))


def _head(weights: Floats, head: int) -> Floats:
    if not 0 <= head < weights.shape[1]:
        raise AttrialError(f"attention: head={head}; the model has {weights.shape[1]} heads")
    return np.asarray(weights[:, head])


def _layer(weights: Floats, layer: str | int) -> Floats:
    """(L, t, t) -> (t, t)."""
    number = {"first": 0, "last": len(weights) - 1}.get(str(layer), layer)
    if isinstance(number, int) and 0 <= number < len(weights):
        return np.asarray(weights[number])
    if layer in ("mean", "max"):
        return np.asarray(weights.mean(0) if layer == "mean" else weights.max(0))
    raise AttrialError(
        f"attention: layer={layer!r}; it takes first, last, mean, max or 0 to {len(weights) - 1}"
    )


def _row(weights: Floats, row: str, read: int) -> Floats:
    rows = {
        "read": weights[read],
        "last": weights[-1],
        "mean": weights.mean(0),
        "max": weights.max(0),
    }
    if row not in rows:
        raise AttrialError(f"attention: row={row!r}; it takes {', '.join(rows)}")
    return np.asarray(rows[row])
