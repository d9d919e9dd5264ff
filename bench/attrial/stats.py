"""Uncertainty of paired comparisons: bootstrap intervals, sign-flip tests, corrections, ranks.

The unit is the input example, and methods are paired: they are compared on the same examples only.
Nothing here draws without a seed, and nothing returns NaN: what can't be computed raises.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.stats import false_discovery_control

from attrial.masks import Bools, Floats, Ints, Values

EXACT = 14  # up to so many differences all 2^n sign flips are counted
SAME = 1e-9  # values closer than this share of their size are the same number
BLOCK = 2**21  # numbers drawn at a time, whatever n is
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def bootstrap_mean(
    values: npt.ArrayLike, *, level: float = 0.95, resamples: int = 10_000, seed: int
) -> tuple[float, float]:
    """Percentile bootstrap interval of a mean: (n,) -> (low, high).

    Calls with one seed and one n draw the same examples, so intervals of methods are paired. One
    value can't be resampled into another mean: its interval is the point (v, v), and says nothing
    about uncertainty (tables leave it out).

    Raises:
        ValueError: If there is no value, or one that is not finite.

    >>> bootstrap_mean([0.1, 0.1, 0.1], seed=0)
    (0.1, 0.1)
    """
    found = np.asarray(values, np.float64)
    if found.ndim != 1 or not found.size or not np.isfinite(found).all():
        raise ValueError("a bootstrap needs finite values, at least one")
    means = np.concatenate(
        [found[rows].mean(axis=1) for rows in _draws(len(found), resamples, seed)]
    )
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    # A mean lies within its values; rounding may not say otherwise.
    low, high = np.clip([low, high], found.min(), found.max())
    return float(low), float(high)


def _draws(n: int, resamples: int, seed: int) -> list[Ints]:
    """Rows of drawn example numbers, (resamples, n) cut into blocks."""
    if n * resamples <= BLOCK:
        return [_remembered_draws(n, resamples, seed)]
    rng = np.random.default_rng(seed)
    return [rng.integers(n, size=(size, n)) for size in _blocks(n, resamples)]


@lru_cache(maxsize=4)
def _remembered_draws(n: int, resamples: int, seed: int) -> Ints:
    return np.random.default_rng(seed).integers(n, size=(resamples, n))


def _blocks(n: int, resamples: int) -> list[int]:
    """How many rows at a time: sizes that sum to ``resamples``."""
    size = max(1, BLOCK // n)
    return [min(size, resamples - start) for start in range(0, resamples, size)]


def paired(a: npt.ArrayLike, b: npt.ArrayLike) -> Values:
    """Differences a - b of the examples on which both are defined (NaN = undefined).

    A difference that is rounding noise beside its two values is 0.

    >>> paired([1.0, np.nan, 0.1 + 0.2], [0.5, 1.0, 0.3])
    array([0.5, 0. ])
    """
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    both = ~(np.isnan(x) | np.isnan(y))
    difference = x[both] - y[both]
    noise = np.abs(difference) <= SAME * np.maximum(np.abs(x[both]), np.abs(y[both]))
    return np.asarray(np.where(noise, 0.0, difference))


def sign_flip(differences: npt.ArrayLike, *, resamples: int = 10_000, seed: int) -> float:
    """Two-sided sign-flip test of paired differences (n,): the p of "no difference in mean".

    Exact over all flips up to 14 differences that are not 0, else Monte Carlo,
    p = (1 + #{|T*| >= |T|}) / (1 + B). Sums that differ by rounding only count as equal; no
    differences at all, or none but 0, give 1.

    >>> sign_flip([1, 2, 3, 4, 5], seed=0)
    0.0625
    """
    found = np.asarray(differences, np.float64)
    found = found[found != 0]  # flipping 0 changes nothing
    if not np.isfinite(found).all():
        raise ValueError("a sign-flip test needs finite differences")
    if len(found) == 0:
        return 1.0
    reached = abs(found.sum()) - SAME * np.abs(found).sum()
    if len(found) <= EXACT:
        return float(np.mean(np.abs(_all_flips(len(found)) @ found) >= reached))
    as_far = sum(
        int(np.sum(np.abs(flips @ found) >= reached))
        for flips in _flips(len(found), resamples, seed)
    )
    return (1 + as_far) / (1 + resamples)


@lru_cache(maxsize=EXACT)
def _all_flips(n: int) -> Floats:
    """Half of all 2^n rows of signs: the first stays +, as |T*| is the same for the mirror row."""
    bits = np.arange(2 ** (n - 1))[:, None] >> np.arange(n)[None, :] & 1
    return np.asarray(1.0 - 2.0 * bits)


def _flips(n: int, resamples: int, seed: int) -> list[Floats]:
    if n * resamples <= BLOCK:
        return [_remembered_flips(n, resamples, seed)]
    rng = np.random.default_rng(seed)
    return [_signs(rng, size, n) for size in _blocks(n, resamples)]


@lru_cache(maxsize=8)
def _remembered_flips(n: int, resamples: int, seed: int) -> Floats:
    return _signs(np.random.default_rng(seed), resamples, n)


def _signs(rng: np.random.Generator, rows: int, n: int) -> Floats:
    return np.asarray(1.0 - 2.0 * rng.integers(2, size=(rows, n)), np.float64)


def holm(p: npt.ArrayLike) -> Values:
    """Holm's step-down adjusted p (m,): controls the chance of any false claim (Holm 1979).

    >>> holm([0.01, 0.02, 0.03])
    array([0.03, 0.04, 0.04])
    """
    raw = np.asarray(p, np.float64)
    order = np.argsort(raw, kind="stable")
    factors = len(raw) - np.arange(len(raw))
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(np.maximum.accumulate(raw[order] * factors), 1.0)
    return adjusted


def least_examples(comparisons: int, *, alpha: float = 0.05) -> int:
    """Fewest examples with which a sign-flip test can tell one of so many comparisons apart.

    The smallest two-sided p of n examples is 2 / 2^n, and Holm asks p <= alpha / comparisons of
    the first.

    >>> least_examples(1), least_examples(28)
    (6, 11)
    """
    return next(n for n in range(1, 10_000) if comparisons * 2.0 ** (1 - n) <= alpha)


def benjamini_hochberg(p: npt.ArrayLike) -> Values:
    """Adjusted p (m,) that control the share of false claims (Benjamini & Hochberg 1995).

    >>> benjamini_hochberg([0.01, 0.02, 0.03])
    array([0.03, 0.03, 0.03])
    """
    raw = np.asarray(p, np.float64)
    return np.asarray(false_discovery_control(raw)) if raw.size else raw


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
    higher values are better.
    """
    m = len(values)
    pairs = list(combinations(range(m), 2))
    differences = [paired(values[i], values[j]) for i, j in pairs]
    p = np.ones((m, m))
    sign = np.zeros((m, m))
    adjusted = holm([sign_flip(d, resamples=resamples, seed=seed) for d in differences])
    for (i, j), d, q in zip(pairs, differences, adjusted, strict=True):
        p[i, j] = p[j, i] = q
        sign[i, j] = np.sign(d.sum()) * (1 if higher else -1)
        sign[j, i] = -sign[i, j]
    defined = (~np.isnan(values)).astype(np.int64)
    return Comparison(p, (p <= alpha) & (sign > 0), defined @ defined.T)


def rank_intervals(better: Bools) -> list[tuple[int, int]]:
    """Ranks that each of m methods may have: better (m, m) -> m pairs (low, high), 1 = best.

    low = 1 + how many are told to be better, high = m - how many are told to be worse.

    >>> rank_intervals(np.array([[0, 1, 1], [0, 0, 0], [0, 0, 0]], bool))
    [(1, 1), (2, 3), (2, 3)]
    """
    m = len(better)
    lows, highs = 1 + better.sum(axis=0), m - better.sum(axis=1)
    return [(int(low), int(high)) for low, high in zip(lows, highs, strict=True)]


def tied_groups(apart: Bools, order: Sequence[int] | None = None) -> list[str]:
    """Letters of m methods: two share one exactly if they can't be told apart.

    A compact letter display by insertion and absorption (Piepho 2004). Where those told apart are
    neighbours in the order, its groups are the longest runs in which no pair is told apart.

    Args:
        apart: (m, m) symmetric, which pairs are told apart.
        order: Best method first; letters are given in this order.

    >>> tied_groups(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]], bool))
    ['a', 'ab', 'b']
    """
    sequence = list(range(len(apart))) if order is None else list(order)
    groups = [frozenset(sequence)]
    for i, j in combinations(sequence, 2):
        if apart[i, j]:
            groups = _split(groups, i, j)
    place = {member: k for k, member in enumerate(sequence)}
    ranked = sorted(groups, key=lambda group: sorted(place[i] for i in group))
    letters = [_letter(k) for k in range(len(ranked))]
    return [
        "".join(name for name, group in zip(letters, ranked, strict=True) if i in group)
        for i in range(len(apart))
    ]


def _split(groups: list[frozenset[int]], i: int, j: int) -> list[frozenset[int]]:
    """Cut every group that holds both, and drop what another group contains."""
    cut = [part for g in groups for part in ((g - {i}, g - {j}) if {i, j} <= g else (g,))]
    unique = list(dict.fromkeys(cut))
    return [g for g in unique if not any(g < other for other in unique)]


def _letter(k: int) -> str:
    return LETTERS[k] if k < len(LETTERS) else f"({k})"
