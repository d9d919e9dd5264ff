"""Perturbation curves as numbers: areas, mean drops, sizes of bins, values between controls."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from attrial.errors import AttrialError, Undefined
from attrial.masks import Floats, Ints

# Outputs of float32 models agree to about 1e-7: a smaller range between controls is noise.
COINCIDE = 1e-6


def area(curve: npt.ArrayLike) -> float:
    """Area under a curve (n + 1,) at k = 0..n, by trapezoids over k/n: a mean height.

    >>> area([10, 6, 3, 1, 0])
    3.75
    """
    heights = np.asarray(curve, np.float64)
    return float((heights[1:] + heights[:-1]).mean() / 2)


def mean_drop(curve: npt.ArrayLike) -> float:
    """Mean drop below the first value (k = 0) over the other values.

    >>> mean_drop([10, 6, 3, 1, 0])
    7.5
    """
    heights = np.asarray(curve, np.float64)
    return float((heights[0] - heights[1:]).mean())


def normalise(value: float, best: float, worst: float) -> float:
    """Place a value between the worst order (0) and the best order (1) of the same input.

    Works for either direction of "better". A value beyond the controls lies outside [0, 1]: it is
    not clipped.

    Raises:
        Undefined: If the controls are no further apart than the outputs are exact.

    >>> normalise(7.25, best=7.5, worst=5.0)
    0.9
    """
    if not abs(best - worst) > COINCIDE:
        raise Undefined("best and worst order coincide")
    return float((value - worst) / (best - worst))


def bin_sizes(bins: Sequence[float], n: int) -> Ints:
    """How many of n players each share in ``bins`` takes: rounded up, so at least one.

    Shares that round to one size stay apart, so that every method and every input is averaged over
    the same number of bins.

    Raises:
        AttrialError: For no bins, or a share outside (0, 1].

    >>> bin_sizes((0.1, 0.3, 0.55), 10).tolist()
    [1, 3, 6]
    """
    if not bins or not all(0 < share <= 1 for share in bins):
        raise AttrialError(f"bins are shares in (0, 1], for instance (0.1, 0.5); got {bins!r}")
    # 0.55 * 20 is 11.000000000000002 in floating point, and means 11.
    return np.array([math.ceil(share * n - 1e-9) for share in bins], np.int64).clip(min=1)


def mean_curve(curves: Sequence[npt.ArrayLike], points: int = 101) -> Floats:
    """Mean of curves of unlike lengths over one grid of shares k/n: -> (points,).

    >>> mean_curve([[4, 0], [2, 2, 0]], points=3).tolist()
    [3.0, 2.0, 0.0]
    """
    grid = np.linspace(0, 1, points)
    laid = [np.interp(grid, np.linspace(0, 1, np.size(c)), np.asarray(c, float)) for c in curves]
    return np.asarray(np.mean(laid, axis=0))
