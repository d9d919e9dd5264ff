"""How evenly relevance is spread over the players."""

from scipy.special import entr

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._shares import shares

DIRECTION = "lower"
READS = "probability"
FAMILY = "complexity"
UNIT = "nats"
RANKED = False
VERSION = 1


def entropy(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Entropy of |score| as shares (Bhatt et al. 2020). Lower is more concentrated.

    In nats: 0 for a single player, log n for equal scores. A short explanation is
    not a right one: concentration says nothing of the model.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only |score| matters.
        seed: Not used.

    Raises:
        Undefined: If there are no players, or every score is 0.
    """
    yield from ()
    return float(entr(shares(scores)).sum())
