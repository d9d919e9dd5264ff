"""Position: a control that looks at nothing but the order of the players."""

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


def position(x: Example, *, seed: int, last: bool = False) -> Asking[Scores]:
    """Score players by how early they stand, n down to 1; with ``last`` by how late.

    A metric on which it does well says that evidence stands at the text's start (or end), and that
    methods with a bias for it will look good.

    Formula:
        s_i = n − i + 1 (i = 1 the first);  last=True: s_i = i

    Source:
        A control; none.

    Traps:
        It beats random orders wherever evidence has a usual place; that is knowledge of the data,
        not of the model.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        last: Whether late players come first.
    """
    yield from note({})  # a generator must yield
    order = np.arange(1.0, x.n + 1)
    return order if last else order[::-1].copy()
