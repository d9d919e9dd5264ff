"""Sets of kept players, as rows of a boolean matrix.

A mask says which players of one example stay: ``True`` = kept. All of perturbation-based
attribution, and all of its evaluation, is a choice of masks.
"""

import numpy as np
import numpy.typing as npt

Masks = npt.NDArray[np.bool_]  # (k, n)
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Scores = npt.NDArray[np.float64]  # (n,)
Values = npt.NDArray[np.float64]  # (k,)


def everything(n: int) -> Masks:
    """Keep all players.

    >>> everything(3).astype(int)
    array([[1, 1, 1]])
    """
    return np.ones((1, n), bool)


def nothing(n: int) -> Masks:
    """Keep no player.

    >>> nothing(3).astype(int)
    array([[0, 0, 0]])
    """
    return np.zeros((1, n), bool)


def all_but_each(n: int) -> Masks:
    """Row i keeps all players but i.

    >>> all_but_each(3).astype(int)
    array([[0, 1, 1],
           [1, 0, 1],
           [1, 1, 0]])
    """
    return ~np.eye(n, dtype=bool)


def all_subsets(n: int) -> Masks:
    """All 2^n masks; player i is bit i of the row's number.

    >>> all_subsets(2).astype(int)
    array([[0, 0],
           [1, 0],
           [0, 1],
           [1, 1]])
    """
    return (np.arange(2**n)[:, None] >> np.arange(n)[None, :] & 1).astype(bool)


def prefixes(order: npt.ArrayLike) -> Masks:
    """Row k keeps the first k players of an order, k = 0..n.

    >>> prefixes([2, 0, 1]).astype(int)
    array([[0, 0, 0],
           [0, 0, 1],
           [1, 0, 1],
           [1, 1, 1]])
    """
    rank = np.argsort(np.asarray(order))
    return np.asarray(rank[None, :] < np.arange(len(rank) + 1)[:, None])


def keys(masks: Masks) -> list[bytes]:
    r"""One hashable key a row; equal rows of one width have equal keys.

    >>> keys(np.array([[True, False], [True, False]]))
    [b'\x01', b'\x01']
    """
    packed = np.packbits(np.ascontiguousarray(masks), axis=1, bitorder="little")
    width = packed.shape[1]
    return [b""] * len(masks) if width == 0 else list(packed.view(f"V{width}").ravel().tolist())
