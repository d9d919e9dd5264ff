"""How many players share the relevance."""

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._shares import shares

DIRECTION = "lower"
READS = "probability"
FAMILY = "complexity"
UNIT = "players"
RANKED = False
VERSION = 1


def effective_size(x: Example, scores: Scores, *, seed: int) -> Asking[float]:
    """Number of equal scores that would be as concentrated. Lower is more concentrated.

    1 over the sum of squared shares of |score| (inverse Simpson index): 1 for a single player, n
    for equal scores. A short explanation is
    not a right one: concentration says nothing of the model.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only |score| matters.
        seed: Not used.

    Raises:
        Undefined: If there are no players, or every score is 0.
    """
    yield from ()
    return float(1 / (shares(scores) ** 2).sum())
