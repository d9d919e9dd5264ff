"""Raw attention: how much one row of one layer's attention gives to each player."""

import numpy as np

from attrial.ask import Asking, attend
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Floats, Scores
from attrial_methods._read import pick_layer, pick_row
from attrial_methods._stacks import read_by

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

    Of two stacks the decoder's attention to the input is read, from its last position.

    Formula:
        s_i = Σ_{t in player i} A[layer][row, t],  heads fused

    Source:
        The common reading of attention weights as relevance; for its limits: Jain & Wallace, NAACL
        2019, arXiv:1902.10186, and Serrano & Smith, ACL 2019, arXiv:1906.03731.

    Traps:
        Attention says where a layer looks, not what it takes from there: weights times values of
        nothing are nothing. It sees no class. In higher layers a position no longer stands for its
        own token. A mean over query rows that includes padding counts rows of nobody. Models run by
        fused kernels show no weights at all: a tool that loops over an empty tuple returns numbers
        all the same.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        layer: ``last``, ``first``, ``mean`` or ``max`` over layers, or a number (0 comes first).
        fusion: ``mean``, ``max`` or ``min`` over heads.
        head: One head instead of a fusion.
        row: The query: ``read`` (the position that the answer is read from), ``last``, or ``mean``
            or ``max`` over all positions.
    """
    reply = yield from attend(fuse=None if head is not None else fusion, stacks=2)
    part, read = read_by(x, reply)
    weights = part.weights if head is None else _head(part.weights, head)
    return x.to_players(pick_row(pick_layer(weights, layer), row, read))


def _head(weights: Floats, head: int) -> Floats:
    if not 0 <= head < weights.shape[1]:
        raise AttrialError(f"attention: head={head}; the model has {weights.shape[1]} heads")
    return np.asarray(weights[:, head])
