"""Bootstrap intervals of a mean: percentile, BCa, and over checkpoints or seeds x examples."""

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri

from attrial.masks import Floats, Values
from attrial.stats import draws

SMALL = 1e-12


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
    found = _finite(values)
    tail = (1 - level) / 2
    return _between(_means(found, resamples, seed), tail, 1 - tail, found)


def bca_mean(
    values: npt.ArrayLike, *, level: float = 0.95, resamples: int = 10_000, seed: int
) -> tuple[float, float]:
    """Bias-corrected accelerated bootstrap interval of a mean: (n,) -> (low, high) (Efron 1987).

    Draws what ``bootstrap_mean`` draws, and shifts the percentiles by how far the resampled means
    lie to one side and how skewed the values are. Data without spread keep the percentiles.

    Raises:
        ValueError: If there is no value, or one that is not finite.

    >>> bca_mean([0.1, 0.1, 0.1], seed=0)
    (0.1, 0.1)
    """
    found = _finite(values)
    means = _means(found, resamples, seed)
    tail = (1 - level) / 2
    low, high = (_corrected(means, found, share) for share in (tail, 1 - tail))
    return _between(means, low, high, found)


def _corrected(means: Values, values: Values, share: float) -> float:
    """The percentile that BCa reads instead of ``share``."""
    spread, mean = float(np.ptp(values)), values.mean()
    below = float(np.mean(means < mean) + np.mean(means == mean) / 2)
    # Without spread there is nothing to correct, and one-sided means have no normal quantile.
    if spread == 0 or not 0 < below < 1:
        return share
    deviations = (values - mean) / spread  # their cubes can't underflow
    # For a mean the jackknife's acceleration is this ratio of its deviations.
    acceleration = float((deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5))
    bias = ndtri(below)
    shifted = bias + ndtri(share)
    # Beyond 1 the correction has left the normal scale: the outermost percentile.
    return float(ndtr(bias + shifted / max(1 - acceleration * shifted, SMALL)))


def hierarchical_mean(
    values: npt.ArrayLike,
    *,
    shared: bool = True,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int,
) -> tuple[float, float]:
    """Interval of a mean over two random factors: (g, n) -> (low, high), percentile.

    Rows are checkpoints or seeds, columns examples; the values are a method's or the differences
    of two methods. Rows are resampled first, then examples. With few rows the interval is too
    narrow: the resampled spread between g rows is (g - 1)/g of the true one.

    Args:
        values: (g, n), all finite.
        shared: Whether the rows saw the same examples, so that one draw of examples serves all
            rows of a resample; else each drawn row draws its own.
        level: Coverage that is aimed at.
        resamples: How often both factors are drawn.
        seed: Of the draws.

    Raises:
        ValueError: If there are fewer than two rows, no example, or a value that is not finite.
    """
    found = np.asarray(values, np.float64)
    if found.ndim != 2 or len(found) < 2 or not found.size or not np.isfinite(found).all():
        raise ValueError("a hierarchical bootstrap needs finite values, at least two rows of them")
    rng = np.random.default_rng(seed)
    sizes = draws.blocks(found.size, resamples)
    means = np.concatenate([_hierarchical(found, shared, size, rng) for size in sizes])
    tail = (1 - level) / 2
    return _between(means, tail, 1 - tail, found)


def _hierarchical(values: Floats, shared: bool, size: int, rng: np.random.Generator) -> Values:
    g, n = values.shape
    rows = rng.integers(g, size=(size, g, 1))
    columns = rng.integers(n, size=(size, 1 if shared else g, n))
    return np.asarray(values[rows, columns].mean(axis=(1, 2)))


def _finite(values: npt.ArrayLike) -> Values:
    found = np.asarray(values, np.float64)
    if found.ndim != 1 or not found.size or not np.isfinite(found).all():
        raise ValueError("a bootstrap needs finite values, at least one")
    return found


def _means(values: Values, resamples: int, seed: int) -> Values:
    rows = draws.examples(len(values), resamples, seed)
    return np.concatenate([values[drawn].mean(axis=1) for drawn in rows])


def _between(means: Values, low: float, high: float, values: Floats) -> tuple[float, float]:
    ends = np.quantile(means, [low, high])
    # A mean lies within its values; rounding may not say otherwise.
    first, last = np.clip(ends, values.min(), values.max())
    return float(first), float(last)
