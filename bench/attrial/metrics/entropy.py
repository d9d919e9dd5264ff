"""How evenly relevance is spread over the players."""

from scipy.special import entr

from attrial.ask import Asking, Undefined
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

    In nats: 0 for a single player, log n for equal scores. A short explanation is not a right one:
    concentration says nothing of the model.

    Formula:
        H = −Σ_i p_i log p_i,  p_i = |s_i| / Σ_j |s_j|

    Range:
        0 to log n nats; 0 for a single player, log n for equal scores.

    Direction:
        Lower is more concentrated.

    Source:
        Bhatt, Weller, Moura, IJCAI 2020, arXiv:2005.00631 (complexity).

    When not to use:
        As a measure of quality: concentration says nothing of the model. Across texts of unlike
        lengths, since the greatest value is log n. To compare methods whose sign means unlike
        things: |score| is taken.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only |score| matters.
        seed: Not used.

    Raises:
        Undefined: If there are no players, or every score is 0.
    """
    yield from ()
    return float(entr(shares(scores)).sum())


def expected(x: Example, *, seed: int) -> Asking[float]:
    """No value: in another order the same scores are as concentrated.

    Raises:
        Undefined: Always.
    """
    yield from ()
    raise Undefined("a random order has no scores of its own")
