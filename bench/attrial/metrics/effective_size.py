"""How many players share the relevance."""

from attrial.ask import Asking, Undefined
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

    The inverse of Simpson's index.

    Formula:
        1 / Σ_i p_i²,  p_i = |s_i| / Σ_j |s_j|

    Range:
        1 to n; 1 for a single player, n for equal scores.

    Direction:
        Lower is more concentrated.

    Source:
        Simpson, Nature 1949; as an effective number: Hill, Ecology 1973.

    When not to use:
        As a measure of quality: a short explanation isn't a right one, and one random word gets the
        best value there is. Across texts of unlike lengths. For scores shifted by a constant, such
        as row sums of attention: it is not invariant to a shift.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only |score| matters.
        seed: Not used.

    Raises:
        Undefined: If there are no players, or every score is 0.
    """
    yield from ()
    return float(1 / (shares(scores) ** 2).sum())


def expected(x: Example, *, seed: int) -> Asking[float]:
    """No value: in another order the same scores are as concentrated.

    Raises:
        Undefined: Always.
    """
    yield from ()
    raise Undefined("a random order has no scores of its own")
