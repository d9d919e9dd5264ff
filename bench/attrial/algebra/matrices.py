"""One layer's attention matrix: heads folded, small weights discarded, the residual added."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from attrial.errors import AttrialError, near
from attrial.masks import Bools, Floats

FUSIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "mean": lambda heads: np.asarray(heads.mean(axis=-3)),
    "max": lambda heads: np.asarray(heads.max(axis=-3)),
    "min": lambda heads: np.asarray(heads.min(axis=-3)),
}


def weights_of(attention: npt.ArrayLike, what: str = "attention") -> Floats:
    """Weights as numbers, finite and never negative, in any shape.

    Raises:
        AttrialError: Otherwise, with the first place that is neither.
    """
    weights = np.asarray(attention, np.float64)
    _check(weights, np.isfinite(weights) & (weights >= 0), what, "finite and 0 or more")
    return weights


def finite(values: npt.ArrayLike, what: str) -> Floats:
    """Numbers of either sign, all finite.

    Raises:
        AttrialError: Otherwise, with the first place that is not.
    """
    found = np.asarray(values, np.float64)
    _check(found, np.isfinite(found), what, "finite")
    return found


def _check(values: Floats, fine: Bools, what: str, wanted: str) -> None:
    if not fine.all():
        place = tuple(int(k) for k in np.argwhere(~fine)[0])
        raise AttrialError(f"{what} is {values[place]} at {list(place)}; it must be {wanted}")


def fuse(attention: npt.ArrayLike, fusion: str = "mean") -> Floats:
    """Fold heads: (L, H, n, n) -> (L, n, n); what has no heads passes unchanged.

    Rows of a ``max`` or ``min`` don't sum to 1 any more.
    """
    weights = np.asarray(attention, np.float64)
    if weights.ndim not in (3, 4) or weights.shape[-1] != weights.shape[-2]:
        raise AttrialError(
            f"attention has shape {weights.shape}; it takes (L, H, n, n) or (L, n, n)"
        )
    return fuse_any(weights, fusion)


def fuse_any(weights: Floats, fusion: str = "mean") -> Floats:
    """As ``fuse``, for queries and keys of different stacks: (L, H, t, s) -> (L, t, s)."""
    if fusion not in FUSIONS:
        raise AttrialError(f"no head fusion {fusion!r}; {near(fusion, FUSIONS)}")
    return FUSIONS[fusion](weights) if weights.ndim == 4 else weights


def discard(matrices: npt.ArrayLike, ratio: float, *, protect: Sequence[int] = ()) -> Floats:
    """Set the lowest weights of each matrix to 0: (..., n, n) -> (..., n, n), not renormalised.

    Args:
        matrices: Fused weights.
        ratio: Share of the n^2 weights that may go, from 0 to 1 (excluded). Weights that tie with
            one that stays, stay: position decides nothing.
        protect: Columns (keys) that keep all their weights: special tokens.

    >>> discard([[0.1, 0.9], [0.4, 0.6]], 0.5)
    array([[0. , 0.9],
           [0. , 0.6]])
    """
    weights = np.asarray(matrices, np.float64)
    if not 0 <= ratio < 1:
        raise AttrialError(f"discard ratio {ratio}; it is a share from 0 to below 1")
    if ratio == 0:
        return weights
    flat = np.sort(weights.reshape(*weights.shape[:-2], -1), axis=-1)
    lowest_kept = flat[..., int(ratio * flat.shape[-1] + 1e-9)][..., None, None]
    protected = np.isin(np.arange(weights.shape[-1]), list(protect))
    return np.where((weights >= lowest_kept) | protected, weights, 0.0)


def add_residual(matrices: Floats, residual: npt.ArrayLike = 0.5) -> Floats:
    """(1 - residual) A + residual I with rows scaled to sum 1: (L, n, n) -> (L, n, n).

    ``residual`` is one share for all, (L,) one a layer, or (L, n) one a layer and query.
    A row of A that is all zero becomes a row of I, never nan (with ``residual=0`` too: what attends
    to nothing stays where it is).
    """
    share = shares_of(residual, matrices.shape)
    share = share.reshape(share.shape + (1,) * (3 - share.ndim))
    identity = np.eye(matrices.shape[-1])
    mixed = (1 - share) * matrices + share * identity
    total = mixed.sum(-1, keepdims=True)
    return np.asarray(np.where(total > 0, mixed / np.where(total > 0, total, 1), identity))


def shares_of(residual: npt.ArrayLike, shape: Sequence[int]) -> Floats:
    """Shares of the identity for matrices of a shape (L, n, n): (), (L,) or (L, n).

    Raises:
        AttrialError: If one is none from 0 to 1, or they don't fit.
    """
    share = np.asarray(residual, np.float64)
    if not ((share >= 0) & (share <= 1)).all():  # nan is neither
        raise AttrialError(f"residual={residual!r}; it is a share from 0 to 1")
    if share.shape not in ((), tuple(shape[:1]), tuple(shape[:2])):
        raise AttrialError(
            f"residual has shape {share.shape}; for {shape[0]} layers it takes one share, "
            "one a layer or one a layer and query"
        )
    return share


def uniform(visible: Bools) -> Floats:
    """Attention spread evenly over the keys that each query sees: (..., n, n) bool -> floats.

    >>> uniform(np.tri(2, dtype=bool))
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    seen = np.asarray(visible, bool)
    return np.asarray(seen / np.maximum(seen.sum(-1, keepdims=True), 1))
