"""Mean drop over the whole deletion curve."""

import numpy as np

from attrial.ask import Asking
from attrial.curves import mean_drop
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._orders import extremal
from attrial.metrics._ranks import without_tops

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 1


def aopc(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Mean drop as players leave one by one (AOPC of Edin et al. 2025). Higher is better.

    1/n sum over k = 1..n of v(all) - v(all but the top k): the form whose normalised value is their
    NAOPC. In [-1, 1] for a probability. Ties are averaged.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps above 12 players.

    Raises:
        Undefined: If there are no players.
    """
    return mean_drop((yield from without_tops(scores, np.arange(x.n + 1), seed=seed)))


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the best order, under which the curve falls fastest, and of the worst."""
    low, high = yield from extremal(x.n, np.ones(x.n + 1), beam=beam)
    return -low, -high
