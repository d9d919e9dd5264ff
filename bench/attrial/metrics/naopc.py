"""Mean drop over the deletion curve, between the worst and the best order of the same input."""

from attrial.ask import Asking
from attrial.curves import normalise
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics import aopc as raw

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 2


def naopc(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """AOPC between the worst (0) and the best order (1) (Edin et al. 2025). Higher is better.

    Formula:
        (AOPC - low) / (up - low), with ``aopc`` of the scores, of the worst and of the best order
        of this input. Both are exact up to 12 players, by dynamic programming over all sets; above
        they are the extremes that a search finds.

    Range:
        [0, 1] where the orders are exact; beyond the orders that a search finds it isn't clipped.

    Direction:
        Higher is better.

    Source:
        Edin et al. 2025 (arXiv 2408.08137).

    When not to use:
        Where few players matter and every order is nearly alike, small differences are blown up. It
        compares models as well as methods; within one model and input it ranks methods exactly as
        ``aopc`` does.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players, or the best and the worst order are worth the same.
    """
    best, worst = yield from raw.extremes(x, seed=seed, beam=beam)
    value = yield from raw.aopc(x, scores, seed=seed)
    up = yield from raw.aopc(x, best, seed=seed)
    low = yield from raw.aopc(x, worst, seed=seed)
    return normalise(value, up, low)


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the best order, under which the curve falls fastest, and of the worst."""
    return (yield from raw.extremes(x, seed=seed, beam=beam))
