"""What a layer of a hand-set transformer hands from position to position: sums, nothing else."""

import torch
from torch import Tensor

from attrial.errors import AttrialError, near
from attrial.models.local import length, proximity, rows, shares, turned

KINDS = ("norm", "norm_residual", "alti", "value_zeroing", "mixing")


def handed_on(kind: str, states: Tensor, weights: Tensor, values: Tensor) -> Tensor:
    """A matrix (t, t) from states (t, d), attention weights (t, t) and what is attended to (t, d).

    Raises:
        AttrialError: If there is no such kind.
    """
    if kind not in KINDS:
        raise AttrialError(f"no kind {kind!r} of layers; {near(kind, KINDS)}")
    if kind == "mixing":
        return shares(states, weights @ values)
    parts = weights[:, :, None] * values  # (query, key, d)
    own = torch.eye(len(states), dtype=states.dtype)[:, :, None] * states
    output = (states + weights @ values)[:, None]
    return rows(
        {
            "norm": lambda: length(parts, output),
            "norm_residual": lambda: length(parts + own, output),
            "alti": lambda: proximity(parts + own, output),
            "value_zeroing": lambda: turned(output - parts, output),
        }[kind]()
    )
