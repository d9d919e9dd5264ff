"""Area under the insertion curve."""

import numpy as np

from attrial.ask import Asking, note
from attrial.curves import area
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._orders import extremal
from attrial.metrics._ranks import only_tops

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 2


def insertion_auc(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Area under the value as the top players return (Petsiuk et al. 2018). Higher is better.

    Both ends of the curve are included. Ties are averaged. Notes the curve as ``insertion`` (n + 1
    values).

    Formula:
        AUC = Σ_{k=1..n} [u(k) + u(k−1)] / 2n
        u(k) = v(the k highest alone)

    Range:
        0 to 1 for a probability.

    Direction:
        Higher is better.

    Source:
        Petsiuk, Das, Saenko, BMVC 2018 (RISE), arXiv:1806.07421.

    When not to use:
        Raw across models or texts. Beside ``lerf``: the insertion curve walked backwards is the
        LeRF curve, the number is the same. Where the empty input is decided for the class already:
        there is little left to insert. The first points have almost no text, which is where an
        untrained removal misleads most.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players.
    """
    curve = yield from only_tops(scores, np.arange(x.n + 1), seed=seed)
    yield from note({"insertion": curve.tolist()})
    return area(curve)


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the best order: deletion's worst, backwards; and of the worst."""
    low, high = yield from extremal(x.n, np.ones(x.n + 1), beam=beam)
    return high, low
