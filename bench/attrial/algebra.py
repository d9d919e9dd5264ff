"""The algebra of attention matrices, free of any model.

Conventions: ``A[l][i, j]`` is the attention of query i to key j; every visible row sums to 1;
layer 0 is nearest the input. A composed ``R[i, j]`` is the share of output i that came from
input position j, so that ``R = A_L ... A_1``: later layers stand on the left.
"""

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from attrial.errors import AttrialError, near
from attrial.masks import Floats

FUSIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "mean": lambda heads: np.asarray(heads.mean(axis=-3)),
    "max": lambda heads: np.asarray(heads.max(axis=-3)),
    "min": lambda heads: np.asarray(heads.min(axis=-3)),
}


def fuse(attention: npt.ArrayLike, fusion: str = "mean") -> Floats:
    """Fold heads: (L, H, n, n) -> (L, n, n); what has no heads passes unchanged.

    Rows of a ``max`` or ``min`` don't sum to 1 any more.
    """
    weights = np.asarray(attention, np.float64)
    if fusion not in FUSIONS:
        raise AttrialError(f"no head fusion {fusion!r}; {near(fusion, FUSIONS)}")
    if weights.ndim not in (3, 4) or weights.shape[-1] != weights.shape[-2]:
        raise AttrialError(
            f"attention has shape {weights.shape}; it takes (L, H, n, n) or (L, n, n)"
        )
    return FUSIONS[fusion](weights) if weights.ndim == 4 else weights


def add_residual(matrices: Floats, residual: float = 0.5) -> Floats:
    """(1 - residual) A + residual I with rows scaled to sum 1: (..., n, n) -> (..., n, n).

    A row of A that is all zero becomes a row of I, never nan (with ``residual=0`` too: what attends
    to nothing stays where it is).
    """
    if not 0 <= residual <= 1:
        raise AttrialError(f"residual={residual}; it is a share from 0 to 1")
    identity = np.eye(matrices.shape[-1])
    mixed = (1 - residual) * matrices + residual * identity
    total = mixed.sum(-1, keepdims=True)
    return np.asarray(np.where(total > 0, mixed / np.where(total > 0, total, 1), identity))


def rollout(
    attention: npt.ArrayLike, residual: float = 0.5, fusion: str = "mean", *, start: int = 0
) -> Floats:
    """Attention rollout: R = A_L ... A_1 of residual-augmented, head-fused matrices.

    Args:
        attention: (L, H, n, n) or (L, n, n), layer 0 nearest the input, query rows.
        residual: Share of the identity in each layer.
        fusion: ``mean``, ``max`` or ``min`` over heads.
        start: First layer that counts (the ones below are left out).

    Returns:
        (n, n), rows sum to 1: the share of output i that came from input j.

    Source: Abnar & Zuidema 2020, arXiv 2005.00928.
    """
    layers = add_residual(fuse(attention, fusion), residual)
    if not 0 <= start < len(layers):
        raise AttrialError(f"start={start}; there are {len(layers)} layers, the first is 0")
    rolled = np.eye(layers.shape[-1])
    for layer in layers[start:]:
        rolled = np.asarray(layer @ rolled)
    return rolled
