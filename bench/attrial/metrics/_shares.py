"""Relevance as shares: non-negative, summing to one."""

import numpy as np

from attrial.errors import Undefined
from attrial.masks import Floats, Scores


def shares(scores: Scores) -> Floats:
    """|scores| over their sum: (n,) -> (n,).

    Raises:
        Undefined: If there are no players, or every score is 0.
    """
    sizes = np.abs(scores)
    if not len(sizes):
        raise Undefined("no players")
    if not sizes.any():
        raise Undefined("every score is 0")
    return np.asarray(sizes / sizes.sum())
