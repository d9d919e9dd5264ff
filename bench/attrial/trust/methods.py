"""Where methods disagree: their attributions of the same example, compared and averaged. Pure."""

from collections.abc import Callable, Sequence
from math import ceil

import numpy as np
from scipy.stats import rankdata

from attrial.masks import Floats, Scores, Values
from attrial.trust.ground import Ground
from attrial.trust.kendall import signs
from attrial.trust.metrics import Matrix

SHARE = 4  # the top is a quarter of the players, one at least
Comparer = Callable[[Sequence[Scores | None]], Floats]  # m attributions of one example -> (m, m)


def taus(ground: Ground) -> Matrix:
    """Kendall's tau-b of two attributions, mean over examples; undefined where one is constant."""
    return _averaged(ground, _taus)


def overlaps(ground: Ground) -> Matrix:
    """Share of the top quarter of the players that two attributions have in common.

    Ties at the border count by their chance to be drawn in (mean over independent random orders).
    """
    return _averaged(ground, _overlaps)


def signed_ranks(ground: Ground) -> Matrix:
    """Share of the strongest quarter that has the same rank and sign in both (Krishna et al. 2022).

    Strongest by absolute score; undefined where a tie crosses the border of either's quarter.
    """
    return _averaged(ground, _signed_ranks)


def _averaged(ground: Ground, compare: Comparer) -> Matrix:
    m, n = len(ground.methods), len(ground.ids)
    total, defined = np.zeros((m, m)), np.zeros((m, m))
    for i in range(n):
        found = compare([ground.scores[name][i] for name in ground.methods])
        some = ~np.isnan(found)
        total += np.where(some, found, 0.0)
        defined += some
    values = np.where(defined > 0, total / np.maximum(defined, 1), np.nan)
    return Matrix(ground.methods, np.asarray(values), defined, n)


def _rows(scores: Sequence[Scores | None], row: Callable[[Scores], Values]) -> list[Values | None]:
    return [None if s is None else row(s) for s in scores]


def _stacked(rows: Sequence[Values | None]) -> Floats:
    """Rows on top of each other, NaN where there is none."""
    width = max((len(r) for r in rows if r is not None), default=0)
    return np.array([np.full(width, np.nan) if r is None else r for r in rows])


def _taus(scores: Sequence[Scores | None]) -> Floats:
    found = _stacked(_rows(scores, _signs))
    filled = np.nan_to_num(found)
    size = np.sqrt(np.outer((filled**2).sum(1), (filled**2).sum(1)))
    return np.asarray(np.where(size > 0, filled @ filled.T / np.where(size > 0, size, 1), np.nan))


def _signs(scores: Scores) -> Values:
    return signs(scores, scores=True)


def top(n: int) -> int:
    """How many players are the top of n."""
    return max(1, ceil(n / SHARE))


def membership(scores: Scores) -> Values:
    """Chance of each player to be in the top if ties are broken at random: (n,), sums to the top.

    >>> membership(np.array([3.0, 1.0, 1.0, 0.0, 2.0]))
    array([1., 0., 0., 0., 1.])
    >>> membership(np.array([1.0, 1.0, 1.0, 1.0]))
    array([0.25, 0.25, 0.25, 0.25])
    """
    k = top(len(scores))
    border = np.sort(scores)[-k]
    above, level = scores > border, scores == border
    return np.asarray(above + level * (k - above.sum()) / level.sum())


def _overlaps(scores: Sequence[Scores | None]) -> Floats:
    found = _stacked(_rows(scores, membership))
    shared = found @ found.T / top(found.shape[1])
    # An attribution shares its whole top with itself, whichever way its ties are broken.
    own = np.where(np.isnan(found).any(1), np.nan, 1.0)
    np.fill_diagonal(shared, own)
    return np.asarray(shared)


def _signed_ranks(scores: Sequence[Scores | None]) -> Floats:
    found = _stacked(_rows(scores, _places))
    shared = (found[:, None, :] == found[None, :, :]) & (found[:, None, :] != 0)
    known = ~np.asarray(np.isnan(found).any(1))
    both = np.logical_and.outer(known, known)
    return np.where(both, shared.sum(2) / top(found.shape[1]), np.nan)


def _places(scores: Scores) -> Values:
    """Signed rank of the strongest players, 0 elsewhere; NaN where a tie crosses the border."""
    size = np.abs(scores)
    k = top(len(scores))
    border = np.sort(size)[-k]
    if (size >= border).sum() > k:
        return np.full(len(scores), np.nan)
    ranks = rankdata(-size)
    return np.asarray(np.where(size >= border, np.where(scores < 0, -ranks, ranks), 0.0))
