"""Whether the decision changes when the most relevant player leaves."""

import numpy as np

from attrial.ask import Asking, keep
from attrial.errors import Undefined
from attrial.example import Example
from attrial.masks import Scores, all_but_each
from attrial.metrics._ranks import tops

DIRECTION = "higher"
READS = "margin"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 1


def decision_flip_top(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Whether the top player's leaving flips the decision (DFMIT). Higher is better.

    Formula:
        [another class has the greater logit without the top player], 0 or 1; where players tie for
        the top, the share of them whose leaving flips it.

    Range:
        [0, 1].

    Direction:
        Higher is better.

    Source:
        Decision flip of the most informative token, Chrysostomou & Aletras 2021.

    When not to use:
        On inputs whose evidence occurs twice, no single player flips anything, and all methods get
        0.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only the top matters.
        seed: Of the sample of ties, where they are too many to list.

    Raises:
        Undefined: If there are no players, or the class is not the one decided for.
    """
    sets = tops(scores, [0, 1], seed=seed)
    whole, without = sets.mean((yield from keep(~sets.masks)) < 0)
    if whole:
        raise Undefined("the class is not the one decided for")
    return float(without)


def extremes(x: Example, *, seed: int) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) with the player on top whose leaving costs most, and with the opposite one."""
    left = yield from keep(all_but_each(x.n))
    rows = np.eye(x.n)
    return rows[left.argmin()], rows[left.argmax()]
