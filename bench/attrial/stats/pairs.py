"""Pairs of methods on the same examples: differences, sign-flip tests, all pairs of a board."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import ceil

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from attrial.masks import Bools, Floats, Ints, Values
from attrial.stats import draws
from attrial.stats.corrections import holm

EXACT = 14  # up to so many differences all 2^n sign flips are counted
SAME = 1e-9  # sums closer than this share of their size are the same number
# Values closer than this share of max(1, size) are level: models answer in float32, and their
# answers move in the sixth digit with the machine and the batch.
RESOLUTION = 1e-5
FINER = 4  # the least p of drawn flips, times the number of pairs, is alpha over this


def paired(a: npt.ArrayLike, b: npt.ArrayLike) -> Values:
    """Differences a - b of the examples on which both are defined (NaN = undefined).

    A difference below the resolution of the values is 0.

    >>> paired([1.0, np.nan, 0.3 + 1e-7], [0.5, 1.0, 0.3])
    array([0.5, 0. ])
    """
    difference = rounded_differences(np.asarray(a, np.float64), np.asarray(b, np.float64))
    return difference[~np.isnan(difference)]


def rounded_differences(a: Floats, b: Floats) -> Floats:
    """A - b with noise as 0, NaN where either is undefined; any shapes that broadcast.

    >>> rounded_differences(np.array([0.5, 0.5, 300.0]), np.array([0.5 - 1e-7, 0.499, 300.002]))
    array([0.   , 0.001, 0.   ])
    """
    difference = a - b
    noise = np.abs(difference) <= resolution(a, b)
    return np.asarray(np.where(noise, 0.0, difference))


def resolution(a: Floats, b: Floats) -> Floats:
    """How far two values may lie apart and still count as level; any shapes that broadcast."""
    return np.asarray(RESOLUTION * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b))))


def above(a: npt.ArrayLike, b: npt.ArrayLike) -> Bools:
    """Where a is higher by more than the resolution; any shapes that broadcast, NaN is nowhere."""
    high, low = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return np.asarray(high - low > resolution(high, low))


def sign_flip(differences: npt.ArrayLike, *, resamples: int = 10_000, seed: int) -> float:
    """Two-sided sign-flip test of paired differences (n,): the p of "no difference in mean".

    Exact over all flips up to 14 differences that are not 0, else Monte Carlo,
    p = (1 + #{|T*| >= |T|}) / (1 + B). Sums that differ by rounding only count as equal; no
    differences at all, or none but 0, give 1.

    Raises:
        ValueError: If a difference is not finite.

    >>> sign_flip([1, 2, 3, 4, 5], seed=0)
    0.0625
    """
    found = np.asarray(differences, np.float64)
    return float(sign_flips(found[None, found != 0], resamples=resamples, seed=seed)[0])


def sign_flips(differences: npt.ArrayLike, *, resamples: int = 10_000, seed: int) -> Values:
    """``sign_flip`` of each row of (r, n): (r,), all rows under the same drawn flips.

    Flipping 0 changes nothing: an example that a pair does not share is a 0 in its row.

    Raises:
        ValueError: If a difference is not finite.

    >>> sign_flips([[1, 2, 3, 4, 5], [1, -1, 0, 0, 0]], seed=0)
    array([0.0625, 1.    ])
    """
    found = np.asarray(differences, np.float64)
    if not np.isfinite(found).all():
        raise ValueError("a sign-flip test needs finite differences")
    few = np.count_nonzero(found, axis=1) <= EXACT
    p = np.ones(len(found))
    p[few] = [_exact(row[row != 0]) for row in found[few]]
    if not few.all():
        p[~few] = _drawn(found[~few], resamples, seed)
    return p


def _exact(row: Values) -> float:
    if len(row) == 0:
        return 1.0
    return float(np.mean(np.abs(_all_flips(len(row)) @ row) >= _reached(row)))


def _drawn(rows: Floats, resamples: int, seed: int) -> Values:
    reached = _reached(rows)
    as_far = np.zeros(len(rows))
    for flips in draws.signs(rows.shape[1], resamples, seed):
        start = 0
        for size in draws.blocks(len(rows), len(flips)):
            as_far += (np.abs(flips[start : start + size] @ rows.T) >= reached).sum(axis=0)
            start += size
    return np.asarray((1 + as_far) / (1 + resamples))


def _reached(rows: Floats) -> Floats:
    """What a flipped sum must reach to count, a little less for rounding: (..., n) -> (...)."""
    return np.asarray(np.abs(rows.sum(axis=-1)) - SAME * np.abs(rows).sum(axis=-1))


@lru_cache(maxsize=EXACT)
def _all_flips(n: int) -> Floats:
    """Half of all 2^n rows of signs: the first stays +, as |T*| is the same for the mirror row."""
    bits = np.arange(2 ** (n - 1))[:, None] >> np.arange(n)[None, :] & 1
    return np.asarray(1.0 - 2.0 * bits)


@dataclass(frozen=True, eq=False)
class Comparison:
    """All pairs of m methods on one metric.

    Attributes:
        p: (m, m) adjusted p of the pair; 1 on the diagonal.
        better: (m, m) whether method i is told apart from j as the better one.
        n: (m, m) examples on which both have a value.
    """

    p: Floats
    better: Bools
    n: Ints


def compare(
    values: Floats, *, higher: bool, alpha: float = 0.05, resamples: int = 10_000, seed: int
) -> Comparison:
    """Compare all pairs of methods: values (m, n), NaN where undefined.

    Sign-flip tests on the examples that both define, Holm over all pairs. ``higher`` says whether
    higher values are better. Many pairs draw more flips than ``resamples``, or the least p that
    draws can give, times the pairs, would exceed alpha and no method could be told apart.
    """
    found = _all_differences(values)
    return _compared(values, np.nan_to_num(found), higher, alpha, resamples, seed)


def compare_signed_ranks(
    values: Floats, *, higher: bool, alpha: float = 0.05, resamples: int = 10_000, seed: int
) -> Comparison:
    """Like ``compare`` on Wilcoxon's signed ranks (1945): values (m, n), NaN where undefined.

    For blocks (tasks x models) whose values have different scales: unlike average ranks, what two
    methods get does not depend on which others are there. Exact up to 14 differences, ties too.
    """
    found = np.nan_to_num(_all_differences(values))
    ranks = [_signed_ranks(row) for row in found]
    return _compared(values, np.reshape(ranks, found.shape), higher, alpha, resamples, seed)


def _signed_ranks(row: Values) -> Values:
    ranks, some = np.zeros_like(row), row != 0
    ranks[some] = np.sign(row[some]) * rankdata(np.abs(row[some]))
    return ranks


def _all_differences(values: Floats) -> Floats:
    """(pairs, n), NaN where one of the pair is undefined."""
    first, second = _pairs(len(values))
    return rounded_differences(values[first], values[second])


def _pairs(m: int) -> tuple[Ints, Ints]:
    found = np.array(list(combinations(range(m), 2)), np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _compared(
    values: Floats, found: Floats, higher: bool, alpha: float, resamples: int, seed: int
) -> Comparison:
    m, (first, second) = len(values), _pairs(len(values))
    enough = max(resamples, ceil(FINER * len(found) / alpha))
    p, sign = np.ones((m, m)), np.zeros((m, m))
    p[first, second] = p[second, first] = holm(sign_flips(found, resamples=enough, seed=seed))
    sign[first, second] = np.sign(found.sum(axis=1)) * (1 if higher else -1)
    sign[second, first] = -sign[first, second]
    defined = (~np.isnan(values)).astype(np.int64)
    return Comparison(p, (p <= alpha) & (sign > 0), defined @ defined.T)
