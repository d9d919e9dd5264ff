"""Area under the curve as the least relevant players leave first."""

import numpy as np

from attrial.ask import Asking, note
from attrial.curves import area
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._orders import extremal
from attrial.metrics._ranks import without_tops

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 2


def lerf(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Area as the least relevant leave first (LeRF, Samek et al. 2017). Higher is better.

    It is the insertion curve, walked backwards. Ties are averaged. Notes the curve as ``lerf`` (n +
    1 values).

    Formula:
        area = Σ_{k=1..n} [f(k) + f(k−1)] / 2n
        f(k) = v(all but the k lowest)

    Range:
        0 to 1 for a probability.

    Direction:
        Higher is better.

    Source:
        Samek et al., IEEE TNNLS 2017, arXiv:1509.06321.

    When not to use:
        Beside ``insertion_auc``: the same number. For unsigned scores on texts with evidence
        against the class: their lowest players are the irrelevant ones, those of signed scores the
        contrary ones. Raw across models.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players.
    """
    curve = yield from without_tops(-scores, np.arange(x.n + 1), seed=seed)
    yield from note({"lerf": curve.tolist()})
    return area(curve)


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the best order, under which the curve stays up longest, and of the worst."""
    low, high = yield from extremal(x.n, np.ones(x.n + 1), beam=beam)
    return high, low
