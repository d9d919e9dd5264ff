"""Rank correlation of scores with the drops of single players."""

import numpy as np

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._agreement import kendall
from attrial.metrics._sets import drops, must_have_players

DIRECTION = "higher"
READS = "log_odds"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 1


def tau_loo(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Kendall tau-b of scores and leave-one-out drops (Jain and Wallace 2019). Higher is better.

    In [-1, 1]. Warning: leave-one-out is no ground truth. Of evidence that occurs twice each copy
    alone changes nothing (OR: drops 0, Shapley values 1/n), and where several players are needed
    together each seems to be the whole (AND: drops 1, Shapley values 1/n). It measures agreement
    with occlusion, which gets 1 by definition.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Not used.

    Raises:
        Undefined: If there are fewer than two players, or either is constant.
    """
    must_have_players(x.n, 2)
    return kendall(scores, (yield from drops(np.eye(x.n, dtype=bool))))


def expected(x: Example, *, seed: int) -> Asking[float]:
    """A random order of the players: a pair is as likely one way as the other."""
    yield from ()
    return 0.0
