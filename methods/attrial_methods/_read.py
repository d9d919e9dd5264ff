"""Which layer of a stack of matrices is read, and which of its rows."""

import numpy as np

from attrial.errors import AttrialError, near
from attrial.masks import Floats


def pick_layer(weights: Floats, layer: str | int) -> Floats:
    """One layer of (L, ..., t, t), or its mean or maximum over layers: (..., t, t)."""
    if layer in ("mean", "max"):
        return np.asarray(weights.mean(0) if layer == "mean" else weights.max(0))
    return np.asarray(weights[layer_number(len(weights), layer)])


def layer_number(layers: int, layer: str | int) -> int:
    """The number of ``first``, ``last`` or a number; layer 0 is nearest the input."""
    number = {"first": 0, "last": layers - 1}.get(str(layer), layer)
    if isinstance(number, int) and 0 <= number < layers:
        return number
    raise AttrialError(
        f"layer={layer!r}; it takes first, last, mean or max (where layers can be folded), "
        f"or 0 to {layers - 1}"
    )


def pick_row(matrix: Floats, row: str, read: int) -> Floats:
    """A query of (t, t): ``read``, ``last``, or the ``mean`` or ``max`` over all: (t,)."""
    rows = {"read": matrix[read], "last": matrix[-1], "mean": matrix.mean(0), "max": matrix.max(0)}
    if row not in rows:
        raise AttrialError(f"no row {row!r}; {near(row, rows)}")
    return np.asarray(rows[row])
