"""Attention flow: the most that streams to each player through attention (Abnar & Zuidema 2020)."""

from attrial import algebra
from attrial.ask import Asking, attend
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._stacks import everywhere, one_share, three

SIGN = "nonnegative"
CLASS_SPECIFIC = False
ADDITIVE = False
STOCHASTIC = False
ASKS = ("attend",)
VERSION = 1


def attention_flow(
    x: Example,
    *,
    seed: int,
    residual: float | list[float] = 0.5,
    fusion: str = "mean",
    normalise: bool = True,
) -> Asking[Scores]:
    """Score each player by the maximum flow from the position that is read, weights as capacities.

    Layers are those of attention rollout; a player's flow is the sum over its tokens. Flows to
    single tokens are exact, and often tied: no more can reach a token than its column of the first
    layer lets through, whoever asks.

    Of two stacks the decoder's last position is the source, and what it has said are inputs too.

    Formula:
        Â_l = (1 − residual) A_l + residual I,  heads fused
        F[i, j] = maximum flow from node (L, i) to (0, j)
        edge (l, k) → (l−1, m) has capacity Â_l[k, m]
        s_i = Σ_{t in player i} F[read, t]

    Source:
        Abnar & Zuidema, ACL 2020, arXiv:2005.00928.

    Traps:
        F[i, j] ≤ min(1, Σ_k Â_1[k, j]): where that column is the narrowest cut, the answer is the
        bottom layer's alone, whatever the layers above do. Ties are exact and must not be broken by
        position. It sees no class. Integer capacities, as SciPy takes them, round flows by about
        1e-6 unless they are refined, as here. The reference code reads the maximum over all output
        rows, not the row that the answer is read from.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        residual: Share of the identity, one for all layers or a list with one a layer.
        fusion: ``mean``, ``max`` or ``min`` over heads.
        normalise: Whether the flows to all tokens, special ones included, are scaled to sum 1.
    """
    reply = yield from attend(fuse=fusion, stacks=2)
    if reply.cross is None:
        flows = algebra.flow(reply.weights, residual, rows=[x.read], normalise=normalise)
        return x.to_players(flows[0])
    encoder, decoder, cross = (part.weights for part in three(reply))
    steps = algebra.joined(encoder, decoder, cross, one_share(residual))
    said = decoder.shape[-1]
    flows = algebra.flow(steps, 0.0, rows=[said - 1], normalise=normalise)[0]
    return x.to_players(everywhere(x, flows[said:], flows[:said]))
