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
    """Give every player the score 1."""
    yield from note({})  # a generator must yield
    return np.ones(x.n)
