"""How many of the most relevant players must leave for the decision to change."""

import numpy as np

from attrial.ask import Asking, keep
from attrial.errors import Undefined
from attrial.example import Example
from attrial.masks import Bools, Ints, Scores
from attrial.metrics._ranks import tops
from attrial.metrics._walks import survival

DIRECTION = "lower"
READS = "margin"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 1


def decision_flip_fraction(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Share of players gone at the flip of the decision (Serrano & Smith 2019). Lower is better.

    The least k/n at which another class has the greater logit, in (0, 1]; the expectation over tied
    players. Defined where the empty input decides otherwise than the whole: there every order
    flips, so that methods are compared on the same examples.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.

    Raises:
        Undefined: If there are no players, the class is not the one decided for, or the empty
            input is decided the same way.
    """
    sets = tops(scores, np.arange(x.n + 1), seed=seed)
    stays = (yield from keep(~sets.masks)) >= 0
    if not stays[0]:
        raise Undefined("the class is not the one decided for")
    if stays[-1]:
        raise Undefined("the empty input is decided the same way")

    def unflipped(before: Ints, after: Ints) -> Bools:
        return np.broadcast_to(stays[after], (len(before), len(after)))

    return float(1 + survival(sets, unflipped).sum()) / x.n
