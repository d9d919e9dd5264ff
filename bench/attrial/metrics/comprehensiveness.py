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
VERSION = 2


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

    Ties are averaged. Shares that round to one size stay apart, so that every method and every text
    is averaged over the same number of bins.

    Formula:
        1/|B| Σ_{q in B} [v(all) − v(all but the ⌈q n⌉ highest)]
        zero_bin=True divides by |B| + 1

    Range:
        −1 to 1 for a probability; below 0 where the class gains as the top players leave.

    Direction:
        Higher is better.

    Source:
        DeYoung et al., ACL 2020 (ERASER), arXiv:1911.03429, equations 1 and 3.

    When not to use:
        On texts of a few words, where the small bins all mean one word. Raw across models or
        methods on different texts: read the normalised column. Where a removal makes inputs unlike
        any text: a drop may then be the model's surprise, so name two removals. Evidence that
        occurs twice gives no drop until both copies are gone.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        bins: Shares of the players, each in (0, 1].
        zero_bin: False divides by the number of bins, as ERASER's code and the published numbers
            do; True also counts the empty bin, as equation 3 of the paper does.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

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
