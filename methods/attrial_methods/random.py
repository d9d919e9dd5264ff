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
    """Draw each player's score uniformly from [0, 1); asks the model nothing.

    Formula:
        s_i uniform in [0, 1), independent

    Source:
        A control; none.

    Traps:
        One draw is one order: boards show the expectation beside it (``random_order``), in closed
        form or as a mean of many draws. Methods that are level with it have shown nothing.

    Args:
        x: The example.
        seed: Of the draw.
    """
    yield from note({})  # a generator must yield
    return np.random.default_rng(seed).random(x.n)
