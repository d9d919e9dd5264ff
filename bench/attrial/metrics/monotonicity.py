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

    A fall of less than 1e-6 is rounding. Ties are averaged.

    Formula:
        1 if v(the k + 1 lowest) ≥ v(the k lowest) for every k = 0..n−1, else 0
        every=False: share of these steps that don't fall

    Range:
        0 to 1; for one text without ties 0 or 1.

    Direction:
        Higher is better.

    Source:
        Arya et al., 2019, arXiv:1909.03012.

    When not to use:
        On long texts: one step of many that falls makes it 0, and most methods get 0. For signed
        scores with evidence against the class: returning it last is what they say, and the order
        from least to most relevant begins with falls. Beside Quantus's metric of the name, which
        reveals no player and is always true.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        every: False for the share of steps that don't fall.

    Raises:
        Undefined: If there are no players.
    """
    sets = tops(-scores, np.arange(x.n + 1), seed=seed, chained=True)
    values = yield from keep(sets.masks)

    def holds(before: Ints, after: Ints) -> Bools:
        return np.asarray(values[after][None] >= values[before][:, None] - COINCIDE)

    return float(survival(sets, holds)[-1]) if every else frequency(sets, holds)
