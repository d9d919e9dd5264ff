"""Mean drop over the whole deletion curve."""

import numpy as np

from attrial.ask import Asking
from attrial.curves import mean_drop
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


def aopc(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Mean drop as players leave one by one (AOPC of Edin et al. 2025). Higher is better.

    The whole curve counts, one player at a time: the form whose normalised value is NAOPC. Ties are
    averaged.

    Formula:
        AOPC = 1/n Σ_{k=1..n} [v(all) − v(all but the k highest)]
        normalised = (AOPC − worst order's) / (best order's − worst order's)

    Range:
        −1 to 1 for a probability; for an additive v a random order gets (n + 1)/2n of v(all) −
        v(none).

    Direction:
        Higher is better.

    Source:
        Edin et al., ACL 2025, arXiv:2408.08137. The curve: Samek et al., IEEE TNNLS 2017,
        arXiv:1509.06321.

    When not to use:
        Raw, to compare models or texts: how far a value can fall depends on the model's confidence
        and on the text's length, so read the normalised column. Where the model's output hardly
        moves when words leave: best and worst order coincide and the normalised value is undefined.
        To compare with numbers of ERASER: that is ``aopc_eraser_code``.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players.
    """
    return mean_drop((yield from without_tops(scores, np.arange(x.n + 1), seed=seed)))


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the best order, under which the curve falls fastest, and of the worst."""
    low, high = yield from extremal(x.n, np.ones(x.n + 1), beam=beam)
    return -low, -high
