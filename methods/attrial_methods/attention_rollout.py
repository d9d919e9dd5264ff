"""Attention rollout: attention multiplied through layers and residuals (Abnar & Zuidema 2020)."""

import numpy as np

from attrial.ask import Asking, attend
from attrial.errors import AttrialError
from attrial.example import FIXED, Example
from attrial.masks import Scores
from attrial_methods._compose import mixing
from attrial_methods._read_rollout import of_one, of_two

SIGN = "nonnegative"
CLASS_SPECIFIC = False
ADDITIVE = False
STOCHASTIC = False
ASKS = ("attend",)
ALSO_ASKS = {"residual": {"norms": ("layers",)}}
VERSION = 2  # null="uniform": keys that the mask lets be seen, not those with any weight


def attention_rollout(
    x: Example,
    *,
    seed: int,
    residual: float | list[float] | str = 0.5,
    fusion: str = "mean",
    discard: float = 0.0,
    start: int = 0,
    null: str = "none",
) -> Asking[Scores]:
    """Score each player by its share in the row of R = A_L ... A_1 that the answer is read from.

    Each layer's matrix is (1 - ``residual``) A + ``residual`` I with heads fused.

    Of two stacks it is X of [D | X], the shares of the decoder's and of the encoder's inputs in the
    decoder's last position: a decoder layer first looks at itself, then at the encoder's outputs.

    Formula:
        Â_l = (1 − residual) A_l + residual I,  heads fused, rows scaled to sum 1
        R = Â_L Â_{L−1} ... Â_1,  layer 1 nearest the input
        s_i = Σ_{t in player i} R[read, t]

    Source:
        Abnar & Zuidema, ACL 2020, arXiv:2005.00928.

    Traps:
        The product in ascending order, Â_1 on the left, is another matrix (some printed formulas
        and codes have it). Rows must be scaled again after max or min fusion and after discarding,
        along the right axis. It sees no class, so it can't tell evidence for a class from evidence
        against it, and gives irrelevant tokens the share of relevant ones where attention is even.
        Under a causal mask the first token gathers mass by construction: compare with
        ``null="uniform"``.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        residual: Share of the identity, one for all layers or a list with one a layer; or
            ``norms``: at each position |x| / (|x| + |attention's output|), as the model has it.
        fusion: ``mean``, ``max`` or ``min`` over heads.
        discard: Share of each layer's lowest weights that is set to 0; those to special tokens
            stay.
        start: First layer that counts.
        null: ``none``, or ``uniform``: shares are divided by those that the rollout of uniform
            attention to the visible keys gives, so that 1 is what the architecture alone does.
    """
    if null not in ("none", "uniform"):
        raise AttrialError(f"attention_rollout: null={null!r}; it takes none or uniform")
    reply = yield from attend(fuse=fusion, stacks=2)
    special = np.flatnonzero(x.owner == FIXED).tolist()
    if reply.cross is not None:
        found, alone = of_two(x, reply, residual, discard, start, special)
    else:
        shares = yield from mixing(residual)
        found, alone = of_one(reply, shares, discard, start, special, x.read)
    if null == "none":
        return x.to_players(found)
    by_chance = x.to_players(alone)
    return np.divide(x.to_players(found), by_chance, out=np.zeros(x.n), where=by_chance > 0)
