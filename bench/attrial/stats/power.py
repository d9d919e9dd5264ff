"""How many examples a claim needs, and how small a difference so many examples can tell."""

from bisect import bisect_left
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.stats import nct
from scipy.stats import t as student

from attrial.errors import Undefined
from attrial.masks import Values

MOST = 10**9  # examples; a pair that would need more is not settled by examples


def least_examples(comparisons: int, *, alpha: float = 0.05) -> int:
    """Fewest examples with which a sign-flip test can tell one of so many comparisons apart.

    The smallest two-sided p of n examples is 2 / 2^n, and Holm asks p <= alpha / comparisons of
    the first.

    >>> least_examples(1), least_examples(28)
    (6, 11)
    """
    return next(n for n in range(1, 10_000) if comparisons * 2.0 ** (1 - n) <= alpha)


def detectable_difference(
    differences: npt.ArrayLike, *, comparisons: int = 1, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Smallest mean difference that as many examples as these would tell apart with this power.

    Reads the spread of paired differences (n,), not their mean; in the unit of the metric, >= 0.
    The power is that of a paired t test at alpha / comparisons, which sign flips come close to.

    Raises:
        ValueError: If there are fewer than two differences, or one is not finite.
        Undefined: If with so few examples nothing can be told apart (see ``least_examples``).
    """
    found = _finite(differences)
    n, level = len(found), _level(comparisons, alpha, power)
    least = least_examples(comparisons, alpha=alpha)
    if n < least:
        raise Undefined(
            f"{n} examples tell nothing apart in {comparisons} comparisons, {least} can"
        )
    top = 1.0
    while _power(top, n, level) < power:
        top *= 2
    effect = brentq(lambda effect: _power(effect, n, level) - power, 0.0, top, xtol=1e-12)
    return float(effect) * _spread(found)


def needed_examples(
    differences: npt.ArrayLike, *, comparisons: int = 1, alpha: float = 0.05, power: float = 0.8
) -> int:
    """Fewest examples that would settle a pair with this power, were its mean and spread as seen.

    Reads paired differences (n,), two at least. Never less than ``least_examples``. A guess from
    few differences is rough: their mean is itself uncertain.

    Raises:
        ValueError: If there are fewer than two differences, or one is not finite.
        Undefined: If the mean is 0, or so small that 10^9 examples would not settle the pair.
    """
    found = _finite(differences)
    mean, spread = abs(float(found.mean())), _spread(found)
    level = _level(comparisons, alpha, power)
    least = least_examples(comparisons, alpha=alpha)
    if mean == 0 or (spread > 0 and _power(mean / spread, MOST, level) < power):
        raise Undefined("the mean difference is too small for any number of examples to settle")
    if spread == 0:
        return least
    return bisect_left(
        range(MOST), True, lo=least, key=lambda n: _power(mean / spread, n, level) >= power
    )


def _level(comparisons: int, alpha: float, power: float) -> float:
    if not 0 < alpha <= power < 1 or comparisons < 1:
        raise ValueError("take 0 < alpha <= power < 1 and one comparison at least")
    return alpha / comparisons


def _power(effect: float, n: int, level: float) -> float:
    """Chance that a two-sided paired t test claims, at a mean of ``effect`` standard deviations."""
    bound = float(student.isf(level / 2, n - 1))
    shift = effect * sqrt(n)
    # scipy's nct.cdf is NaN in the far lower tail; its mirror image in the upper one is not.
    return float(nct.sf(bound, n - 1, shift) + nct.sf(bound, n - 1, -shift))


def _spread(values: Values) -> float:
    return 0.0 if np.ptp(values) == 0 else float(values.std(ddof=1))


def _finite(differences: npt.ArrayLike) -> Values:
    found = np.asarray(differences, np.float64)
    if found.ndim != 1 or len(found) < 2 or not np.isfinite(found).all():
        raise ValueError("a spread needs two finite differences at least")
    return found
