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

    Agreement with occlusion, which gets 1 by definition.

    Formula:
        τ_b over players of (s_i, v(all) − v(all but i))

    Range:
        −1 to 1; 0 in the mean over random orders.

    Direction:
        Higher is better.

    Source:
        Jain & Wallace, NAACL 2019, arXiv:1902.10186.

    When not to use:
        As ground truth. Of evidence that occurs twice each copy alone changes nothing (OR: drops 0,
        Shapley values 1/n), and where several players are needed together each seems to be the
        whole (AND: drops 1, Shapley values 1/n). On long texts where most drops are near 0: the
        order of noise decides.

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
