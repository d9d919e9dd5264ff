"""Rank agreement of many vectors at once: Kendall's tau-b and Spearman's rho. Pure."""

import numpy as np

from attrial.masks import Floats
from attrial.stats.blocks import tied_ranks
from attrial.stats.pairs import SAME, resolution


def signs(values: Floats, *, scores: bool = False) -> Floats:
    """Who is above whom: (..., m) -> (..., m (m - 1) / 2) of -1, 0, 1.

    Values below their resolution apart tie; a pair with a NaN is 0, so NaN must be left out before.
    ``scores`` may be of any size: they tie where they differ by rounding only.
    """
    i, j = np.triu_indices(values.shape[-1], 1)
    a, b = values[..., i], values[..., j]
    least = SAME * np.maximum(np.abs(a), np.abs(b)) if scores else resolution(a, b)
    apart = np.abs(a - b) > least
    return np.asarray(np.where(apart, np.sign(a - b), 0.0))


def agreement(a: Floats, b: Floats) -> Floats:
    """Tau-b of pairs of sign vectors (..., p) -> (...), NaN where either knows no difference."""
    size = np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    return np.asarray(np.where(size > 0, (a * b).sum(-1) / np.where(size > 0, size, 1.0), np.nan))


def tau_b(a: Floats, b: Floats) -> float:
    """Kendall's tau-b of two vectors (m,) over what both define; NaN where it is undefined.

    >>> tau_b(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0])).__round__(3)
    0.333
    """
    both = ~(np.isnan(a) | np.isnan(b))
    return float(agreement(signs(a[both]), signs(b[both])))


def tau_matrix(rows: Floats) -> Floats:
    """Tau-b of all pairs of k vectors: (k, m) -> (k, k); NaN rows are undefined.

    Vectors without NaN only are quick; pairs with some are taken one by one.
    """
    if not np.isnan(rows).any():
        found = signs(rows)
        size = np.sqrt(np.outer((found**2).sum(1), (found**2).sum(1)))
        return np.asarray(np.where(size > 0, found @ found.T / np.where(size > 0, size, 1), np.nan))
    k = len(rows)
    matrix = np.array([[tau_b(rows[i], rows[j]) for j in range(k)] for i in range(k)])
    return matrix.reshape(k, k)


def spearman(a: Floats, b: Floats) -> Floats:
    """Spearman's rho along the last axis: (..., m) twice -> (...).

    NaN where either is constant or has a NaN.
    """
    x, y = (_centred(v) for v in (a, b))
    size = np.sqrt((x * x).sum(-1) * (y * y).sum(-1))
    return np.asarray(np.where(size > 0, (x * y).sum(-1) / np.where(size > 0, size, 1.0), np.nan))


def _centred(values: Floats) -> Floats:
    ranks = tied_ranks(values.reshape(-1, values.shape[-1])).reshape(values.shape)
    centred = ranks - ranks.mean(-1, keepdims=True)
    return np.asarray(np.where(np.isnan(values).any(-1, keepdims=True), 0.0, centred))
