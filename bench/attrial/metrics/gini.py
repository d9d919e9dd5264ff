"""How unequally relevance is spread over the players."""

import numpy as np

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._shares import shares

DIRECTION = "higher"
READS = "probability"
FAMILY = "complexity"
UNIT = ""
RANKED = False
VERSION = 1


def gini(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Gini coefficient of |score| (Chalasani et al. 2020). Higher is more concentrated.

    0 for equal scores, (n - 1)/n for a single one. A short explanation is
    not a right one: concentration says nothing of the model.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only |score| matters.
        seed: Not used.

    Raises:
        Undefined: If there are no players, or every score is 0.
    """
    yield from ()
    parts = np.sort(shares(scores))
    ranks = np.arange(1, x.n + 1)
    return float(((2 * ranks - x.n - 1) * parts).sum() / x.n)
