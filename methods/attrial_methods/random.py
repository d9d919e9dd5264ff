"""Random scores: the control that every method must beat."""

import numpy as np

from attrial.ask import Asking, note
from attrial.example import Example
from attrial.masks import Scores

SIGN = "nonnegative"
CLASS_SPECIFIC = False
ADDITIVE = False
STOCHASTIC = True
ASKS = ()
VERSION = 1


def random(x: Example, *, seed: int) -> Asking[Scores]:
    """Draw each player's score uniformly from [0, 1); asks the model nothing."""
    yield from note({})  # a generator must yield
    return np.random.default_rng(seed).random(x.n)
