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
VERSION = 1


def abc(x: Example, scores: Scores, *, seed: int, beam: int = 6) -> Asking[float]:
    """Area between the LeRF and the MoRF curve (Blücher et al. 2024). Higher is better.

    Area as the least relevant leave first, less the area as the most relevant do: in [-1, 1] for a
    probability; about 0 for a random order. Ties are averaged.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        beam: Sets a size that the search for the best and worst order keeps above 12 players.

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
