"""Methods ranked within blocks (tasks x models): Friedman, Nemenyi, cliques, Kendall's W."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import factorial, inf, prod, sqrt

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2 as chi_squared
from scipy.stats import f as f_distribution
from scipy.stats import rankdata, studentized_range

from attrial.errors import Undefined
from attrial.masks import Floats, Values
from attrial.stats.pairs import resolution

TINY = float(np.finfo(np.float64).tiny)  # a p that underflows is this: never 0


@dataclass(frozen=True)
class Friedman:
    """Two tests of "all methods are alike" over N blocks of k methods.

    Attributes:
        chi2: Friedman's statistic (1937) with tied ranks counted, 0 .. N (k - 1).
        chi2_p: Its p, by the chi-squared distribution with k - 1 degrees of freedom.
        f: Iman and Davenport's F (1980), less conservative; infinite where all blocks agree.
        f_p: Its p; where all blocks agree the exact one, arrangements^(1 - N).
    """

    chi2: float
    chi2_p: float
    f: float
    f_p: float


@dataclass(frozen=True)
class Ranking:
    """What a critical-difference diagram shows.

    Attributes:
        ranks: k average ranks, 1 = best.
        difference: Average ranks that differ by as much are told apart.
        cliques: Groups of methods that are not told apart, each best first.
        test: Whether any methods differ at all; without it the groups mean little.
        w: Kendall's W of the blocks.
    """

    ranks: tuple[float, ...]
    difference: float
    cliques: tuple[tuple[int, ...], ...]
    test: Friedman
    w: float


def ranking(values: npt.ArrayLike, *, higher: bool, alpha: float = 0.05) -> Ranking:
    """Everything about values (N blocks, k methods); with more than 5 methods take 10 blocks.

    Raises:
        ValueError: If there are not at least one block and two methods, all values finite.
        Undefined: If all methods tie in every block.
    """
    found = _checked(values)
    ranks = average_ranks(found, higher=higher)
    difference = critical_difference(found.shape[1], len(found), alpha=alpha)
    groups = cliques(ranks, difference)
    test, w = friedman(found), kendall_w(found)
    return Ranking(tuple(map(float, ranks)), difference, groups, test, w)


def average_ranks(values: npt.ArrayLike, *, higher: bool) -> Values:
    """Ranks within blocks, averaged over them: (N, k) -> (k,), 1 = best, ties share their mean.

    >>> average_ranks([[0.9, 0.5, 0.5], [0.8, 0.1, 0.7]], higher=True)
    array([1.  , 2.75, 2.25])
    """
    found = _checked(values)
    return np.asarray(tied_ranks(-found if higher else found).mean(axis=0))


def friedman(values: npt.ArrayLike) -> Friedman:
    """Friedman's chi-squared and Iman-Davenport's F of values (N blocks, k methods).

    The direction of the values does not matter. Methods that tie in every block give p = 1.

    Raises:
        ValueError: If there are not at least one block and two methods, all values finite.
    """
    ranks = tied_ranks(_checked(values))
    n, k = ranks.shape
    between, within = _squares(ranks)
    if between + within == 0:
        return Friedman(0.0, 1.0, 0.0, 1.0)
    chi2 = n * (k - 1) * between / (between + within)
    chi2_p = max(float(chi_squared.sf(chi2, k - 1)), TINY)
    if within == 0:  # every block ranks alike: F has no finite value, its p is a count
        return Friedman(chi2, chi2_p, inf, max(float(_arrangements(ranks[0])) ** (1 - n), TINY))
    f = (n - 1) * between / within
    f_p = max(float(f_distribution.sf(f, k - 1, (k - 1) * (n - 1))), TINY)
    return Friedman(chi2, chi2_p, f, f_p)


def kendall_w(values: npt.ArrayLike) -> float:
    """Kendall's coefficient of concordance of values (N, k): 1 = all blocks rank alike, 0 = none.

    Raises:
        ValueError: If there are not at least one block and two methods, all values finite.
        Undefined: If all methods tie in every block.
    """
    between, within = _squares(tied_ranks(_checked(values)))
    if between + within == 0:
        raise Undefined("all methods tie in every block, so blocks can't agree or disagree")
    return between / (between + within)


@lru_cache(maxsize=64)
def critical_difference(methods: int, blocks: int, *, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of average ranks: q sqrt(k (k + 1) / (6 N)) (Demsar 2006).

    q is the studentized range of k groups with infinite degrees of freedom, over sqrt(2).

    Raises:
        ValueError: If there are fewer than two methods or no block.

    >>> round(critical_difference(3, 4), 3)
    1.657
    """
    if methods < 2 or blocks < 1:
        raise ValueError("a critical difference needs two methods and one block at least")
    q = float(studentized_range.ppf(1 - alpha, methods, inf)) / sqrt(2)
    return q * sqrt(methods * (methods + 1) / (6 * blocks))


def cliques(ranks: npt.ArrayLike, difference: float) -> tuple[tuple[int, ...], ...]:
    """Longest groups of two and more whose average ranks (k,) span less than the difference.

    Each group lists its methods best first; groups come best first, and may overlap.

    >>> cliques([1.0, 2.0, 2.5, 4.0], 1.7)
    ((0, 1, 2), (2, 3))
    """
    places = np.asarray(ranks, np.float64)
    order = [int(i) for i in np.argsort(places, kind="stable")]
    sorted_places = places[order]
    ends = [int(np.sum(sorted_places - start < difference)) for start in sorted_places]
    # A run that ends where the one before it ends lies within that one.
    runs = [(i, end) for i, end in enumerate(ends) if i == 0 or end > ends[i - 1]]
    return tuple(tuple(order[i:end]) for i, end in runs if end - i > 1)


def _checked(values: npt.ArrayLike) -> Floats:
    found = np.asarray(values, np.float64)
    if found.ndim != 2 or len(found) < 1 or found.shape[1] < 2 or not np.isfinite(found).all():
        raise ValueError("blocks need one row at least, of finite values of two methods or more")
    return found


def tied_ranks(values: Floats) -> Floats:
    """Ranks within rows (N, k), 1 = least; values nearer than their resolution share one."""
    order = np.argsort(values, axis=1, kind="stable")
    sorted_values = np.take_along_axis(values, order, axis=1)
    above, below = sorted_values[:, 1:], sorted_values[:, :-1]
    steps = np.cumsum(above - below > resolution(above, below), axis=1)
    levels = np.zeros(values.shape)
    np.put_along_axis(levels, order[:, 1:], steps.astype(np.float64), axis=1)
    return np.asarray(rankdata(levels, axis=1), np.float64)


def _squares(ranks: Floats) -> tuple[float, float]:
    """Sums of squares of ranks (N, k) between methods, and within them."""
    n, k = ranks.shape
    means = ranks.mean(axis=0)
    return float(n * ((means - (k + 1) / 2) ** 2).sum()), float(((ranks - means) ** 2).sum())


def _arrangements(ranks: Values) -> int:
    """How many different rows these ranks can be put in."""
    ties = [len(list(group)) for _, group in groupby(sorted(ranks))]
    return factorial(len(ranks)) // prod(factorial(t) for t in ties)
