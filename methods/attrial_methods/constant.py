"""Constant scores: a control that says nothing, and so must get what a random order gets."""

import numpy as np

from attrial.ask import Asking, note
from attrial.example import Example
from attrial.masks import Scores

SIGN = "nonnegative"
CLASS_SPECIFIC = False
ADDITIVE = False
STOCHASTIC = False
ASKS = ()
VERSION = 1


def constant(x: Example, *, seed: int) -> Asking[Scores]:
    """Give every player the score 1.

    All players tie, so that every metric gives it what it gives to no information at all. A metric
    that gives it more than a random order breaks ties by position.

    Formula:
        s_i = 1

    Source:
        A control; none.

    Traps:
        A random order's expectation is reached where ties are averaged; ``average_precision`` is
        the exception by definition (the share of evidence, less than a random order's expectation).
        Correlations are undefined for it, not 0.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
    """
    yield from note({})  # a generator must yield
    return np.ones(x.n)
