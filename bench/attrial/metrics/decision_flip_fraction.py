"""How many of the most relevant players must leave for the decision to change."""

import numpy as np

from attrial.ask import Asking, keep
from attrial.errors import Undefined
from attrial.example import Example
from attrial.masks import Bools, Ints, Scores
from attrial.metrics._orders import explored
from attrial.metrics._ranks import tops
from attrial.metrics._walks import first_crossing, longest_stay, survival

DIRECTION = "lower"
READS = "margin"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 3


def decision_flip_fraction(
    x: Example, scores: Scores, *, seed: int, beam: int = 6
) -> Asking[float]:
    """Share of players gone at the flip of the decision (Serrano & Smith 2019). Lower is better.

    The least k/n at which another class has the greater logit, in (0, 1]; the expectation over tied
    players. Defined where the empty input decides otherwise than the whole: there every order
    flips, so that methods are compared on the same examples.

    Formula:
        min k/n with argmax of the model on (all but the k highest) ≠ the class
        expectation over tied players

    Range:
        1/n to 1; lower means that fewer players carry the decision.

    Direction:
        Lower is better.

    Source:
        Serrano & Smith, ACL 2019, arXiv:1906.03731. There attention weights are set to zero; here
        players leave.

    When not to use:
        Where the empty input is decided the same way: no order need flip it, the cell is undefined
        and counted, so that what is left may be a small part of the examples. To see how much the
        top players matter before the flip: it reads one point of the curve.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players, the class is not the one decided for, or the empty input
            is decided the same way.
    """
    sets = tops(scores, np.arange(x.n + 1), seed=seed, chained=True)
    stays = (yield from keep(~sets.masks)) >= 0
    if not stays[0]:
        raise Undefined("the class is not the one decided for")
    if stays[-1]:
        raise Undefined("the empty input is decided the same way")

    def unflipped(before: Ints, after: Ints) -> Bools:
        return np.broadcast_to(stays[after], (len(before), len(after)))

    return float(1 + survival(sets, unflipped).sum()) / x.n


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the order that flips the decision first, and of the one that holds it longest.

    Raises:
        Undefined: If no set that was met flips the decision.
    """
    levels = yield from explored(x.n, beam=beam)
    flipped = first_crossing(levels)
    if not len(flipped):
        raise Undefined("nothing that leaves changes the decision")
    return -flipped[0].astype(float), -longest_stay(levels).sum(0).astype(float)
