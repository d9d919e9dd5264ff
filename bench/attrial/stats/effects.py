"""Effect sizes that read the order of values only: how often and how far one method is ahead."""

import numpy as np
import numpy.typing as npt

from attrial.errors import Undefined
from attrial.masks import Floats, Values
from attrial.stats.pairs import paired, rounded_differences


def cliffs_delta(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """P(a > b) - P(a < b) over all pairs of a value of a and one of b (Cliff 1993).

    In [-1, 1], above 0 where a tends to be higher. Reads (n,) and (k,), NaN = undefined; the
    pairing of examples is not used: ``win_rate`` does.

    Raises:
        Undefined: If a or b has no value.

    >>> cliffs_delta([1, 2, 3], [0, 2])
    0.5
    """
    x, y = _defined(a), _defined(b)
    return float(np.sign(rounded_differences(x[:, None], y[None, :])).mean())


def win_rate(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Share of common examples on which a is higher, ties counting half: (n,), (n,) -> [0, 1].

    Raises:
        Undefined: If there is no example on which both have a value.

    >>> win_rate([1, 2, 3, 4, np.nan], [0, 2, 1, 9, 1])
    0.625
    """
    difference = paired(a, b)
    if not difference.size:
        raise Undefined("the two methods have no example in common")
    return float((np.sign(difference).mean() + 1) / 2)


def _defined(values: npt.ArrayLike) -> Values:
    found: Floats = np.asarray(values, np.float64).ravel()
    found = found[~np.isnan(found)]
    if not found.size:
        raise Undefined("a method without values has no effect size")
    return found
