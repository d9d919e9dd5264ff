"""Mean drop when the most relevant players leave."""

import numpy as np

from attrial.ask import Asking
from attrial.curves import bin_sizes
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._bins import mean_over_bins, weights
from attrial.metrics._orders import extremal
from attrial.metrics._ranks import without_tops

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 1


def comprehensiveness(
    x: Example,
    scores: Scores,
    *,
    seed: int,
    bins: tuple[float, ...] = (0.01, 0.05, 0.1, 0.2, 0.5),
    zero_bin: bool = False,
    beam: int = 6,
) -> Asking[float]:
    """Mean drop when the top players leave (ERASER, DeYoung et al. 2020). Higher is better.

    v(all) - v(all but the top k), k = ceil(share x n), averaged over the bins. In [-1, 1] for a
    probability. Ties are averaged.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        bins: Shares of the players, each in (0, 1].
        zero_bin: False divides by the number of bins, as ERASER's code and the published numbers
            do; True also counts the empty bin, as equation 3 of the paper does.
        beam: Sets a size that the search for the best and worst order keeps above 12 players.

    Raises:
        Undefined: If there are no players.
    """
    sizes = np.append(0, bin_sizes(bins, x.n))
    values = yield from without_tops(scores, sizes, seed=seed)
    return mean_over_bins(values[0] - values[1:], zero_bin=zero_bin)


def extremes(
    x: Example,
    *,
    seed: int,
    bins: tuple[float, ...] = (0.01, 0.05, 0.1, 0.2, 0.5),
    zero_bin: bool = False,
    beam: int = 6,
) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the order that is best at these bins, and of the worst."""
    low, high = yield from extremal(x.n, weights(bins, x.n)[::-1], beam=beam)
    return -low, -high
