"""Whether the value never falls as players return, least relevant first."""

import numpy as np

from attrial.ask import Asking, keep
from attrial.curves import COINCIDE
from attrial.example import Example
from attrial.masks import Bools, Ints, Scores
from attrial.metrics._ranks import tops
from attrial.metrics._walks import frequency, survival

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 1


def monotonicity(x: Example, scores: Scores, *, seed: int, every: bool = True) -> Asking[float]:
    """Whether no player's return lowers the value (Arya et al. 2019). Higher is better.

    Least relevant first: 1 if no step falls, else 0; the expectation over tied players. A fall of
    less than 1e-6 is rounding. Hard to pass with many players.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        every: False for the share of steps that don't fall.

    Raises:
        Undefined: If there are no players.
    """
    sets = tops(-scores, np.arange(x.n + 1), seed=seed)
    values = yield from keep(sets.masks)

    def holds(before: Ints, after: Ints) -> Bools:
        return np.asarray(values[after][None] >= values[before][:, None] - COINCIDE)

    return float(survival(sets, holds)[-1]) if every else frequency(sets, holds)
