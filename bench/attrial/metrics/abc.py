"""Area between the curves of least and of most relevant players first."""

import numpy as np

from attrial.ask import Asking, keep
from attrial.curves import area
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._orders import Level, both_chains, explored
from attrial.metrics._ranks import only_tops, without_tops

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 2


def abc(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Area between the LeRF and the MoRF curve (Blücher et al. 2024). Higher is better.

    Positive where the order is better than its reverse. Ties are averaged.

    Formula:
        ABC = area(LeRF) − area(MoRF)
        area(curve) = Σ_{k=1..n} [curve(k) + curve(k−1)] / 2n
        MoRF(k) = v(all but the k highest),  LeRF(k) = v(all but the k lowest)

    Range:
        −1 to 1 for a probability; 0 in the mean over random orders.

    Direction:
        Higher is better.

    Source:
        Blücher, Vielhaben, Strodthoff, TMLR 2024, arXiv:2401.06654. The two curves: Samek et al.,
        IEEE TNNLS 2017, arXiv:1509.06321.

    When not to use:
        Beside ``morf`` and ``lerf`` as a third witness: it is their difference. Where the size of
        scores matters: only their order is read. With one removal alone on a model that never saw
        such inputs: both curves cross inputs unlike any text, so run a second removal and see
        whether the order of methods stays.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players.
    """
    sizes = np.arange(x.n + 1)
    least = yield from only_tops(scores, sizes, seed=seed)
    most = yield from without_tops(scores, sizes, seed=seed)
    return area(least) - area(most)


def extremes(x: Example, *, seed: int, beam: int = 6) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the best order and of the worst: exact up to 12 players.

    A set of top players counts with its own value less that of all others.
    """
    levels = yield from explored(x.n, beam=beam)
    others = yield from keep(~np.concatenate([level.masks for level in levels]))
    parts = np.split(others, np.cumsum([len(level.masks) for level in levels])[:-1])
    gains = [Level(a.masks, a.values - b) for a, b in zip(levels, parts, strict=True)]
    low, high = both_chains(gains, np.ones(x.n + 1))
    return high, low
