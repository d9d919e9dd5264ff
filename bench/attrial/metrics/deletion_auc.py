"""Area under the deletion curve."""

import numpy as np

from attrial.ask import Asking, note
from attrial.curves import area
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._orders import extremal
from attrial.metrics._ranks import without_tops

DIRECTION = "lower"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 2


def deletion_auc(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Area under the value as the top players leave (Petsiuk et al. 2018). Lower is better.

    Both ends of the curve are included. Ties are averaged. Notes the curve as ``deletion`` (n + 1
    values).

    Formula:
        AUC = Σ_{k=1..n} [d(k) + d(k−1)] / 2n
        d(k) = v(all but the k highest)

    Range:
        0 to 1 for a probability.

    Direction:
        Lower is better.

    Source:
        Petsiuk, Das, Saenko, BMVC 2018 (RISE), arXiv:1806.07421.

    When not to use:
        Raw across models or texts: it rises with the model's confidence, so read the normalised
        column. To compare with numbers of Quantus (not divided by n, without the first point) or of
        tools that score the perturbed input's own class. Under one removal alone: unfamiliar inputs
        may lower the value by themselves.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players.
    """
    curve = yield from without_tops(scores, np.arange(x.n + 1), seed=seed)
    yield from note({"deletion": curve.tolist()})
    return area(curve)


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the best order, under which the curve falls fastest, and of the worst."""
    low, high = yield from extremal(x.n, np.ones(x.n + 1), beam=beam)
    return -low, -high
