"""How unequally relevance is spread over the players."""

import numpy as np

from attrial.ask import Asking, Undefined
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

    0 for equal scores, (n - 1)/n for a single one. A short explanation is not a right one:
    concentration says nothing of the model.

    Formula:
        G = Σ_i (2i − n − 1) a_i / (n Σ_i a_i),  a = |s| in ascending order, i = 1..n

    Range:
        0 to (n − 1)/n; 0 for equal scores, the most for a single player.

    Direction:
        Higher is more concentrated.

    Source:
        Chalasani et al., ICML 2020, arXiv:1810.06583.

    When not to use:
        As a measure of quality: concentration says nothing of the model. Across texts of unlike
        lengths, since the greatest value is (n − 1)/n. To compare with EvalxNLP's sparseness, which
        never sorts: a one-hot gets another value at every position.

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


def expected(x: Example, *, seed: int) -> Asking[float]:
    """No value: in another order the same scores are as concentrated.

    Raises:
        Undefined: Always.
    """
    yield from ()
    raise Undefined("a random order has no scores of its own")
