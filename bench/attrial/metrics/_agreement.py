"""Correlations that say so where there is none: between scores and what the model did."""

import numpy as np
from scipy import stats

from attrial.curves import COINCIDE
from attrial.errors import Undefined
from attrial.masks import Floats

ROUNDING = 1e-9  # relative: sums of equal scores may differ by less


def pearson(said: Floats, done: Floats) -> float:
    """Pearson correlation of what scores say (k,) and what the model did (k,), in [-1, 1].

    Raises:
        Undefined: If either is constant.
    """
    _must_vary(said, done)
    return float(np.corrcoef(said, done)[0, 1])


def spearman(said: Floats, done: Floats) -> float:
    """Spearman rank correlation, tied values at their average rank, in [-1, 1].

    Raises:
        Undefined: If either is constant.
    """
    _must_vary(said, done)
    return float(np.corrcoef(stats.rankdata(said), stats.rankdata(done))[0, 1])


def kendall(said: Floats, done: Floats) -> float:
    """Kendall's tau-b, which counts ties, in [-1, 1].

    Raises:
        Undefined: If either is constant.
    """
    _must_vary(said, done)
    return float(stats.kendalltau(said, done).statistic)


def _must_vary(said: Floats, done: Floats) -> None:
    if len(said) < 2:
        raise Undefined("fewer than two sets to compare")
    if np.ptp(said) <= ROUNDING * np.abs(said).max():
        raise Undefined("the scores are constant")
    if np.ptp(done) <= COINCIDE:
        raise Undefined("the model's answers are constant")
