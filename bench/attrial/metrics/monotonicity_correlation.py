"""Rank correlation of the size of scores with the size of single players' effects."""

import numpy as np

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._agreement import spearman
from attrial.metrics._sets import drops, must_have_players

DIRECTION = "higher"
READS = "log_odds"
FAMILY = "faithfulness"
UNIT = ""
RANKED = False
VERSION = 1


def monotonicity_correlation(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Spearman of |score| and |drop| of single players (Nguyen & Martínez 2020). Higher is better.

    In [-1, 1], tied values at their average rank. Blind to signs, and to evidence that occurs
    twice: each of its copies alone changes nothing.

    Formula:
        Spearman_i(|s_i|, |v(all) − v(all but i)|)

    Range:
        −1 to 1.

    Direction:
        Higher is better.

    Source:
        Nguyen & Martínez, 2020, arXiv:2007.07584. There effects are expectations over drawn values;
        here a player leaves.

    When not to use:
        Where signs matter: both sides are absolute values. Where evidence occurs twice or works
        together: single drops are no ground truth, as ``tau_loo`` says. Occlusion gets 1 by
        definition.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only the order of |score| matters.
        seed: Not used.

    Raises:
        Undefined: If there are fewer than two players, or either is constant.
    """
    must_have_players(x.n, 2)
    fell = yield from drops(np.eye(x.n, dtype=bool))
    return spearman(np.abs(scores), np.abs(fell))


def expected(x: Example, *, seed: int) -> Asking[float]:
    """A random order of the players: every rank is expected in the middle."""
    yield from ()
    return 0.0
