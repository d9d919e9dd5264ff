"""Mean drop when only the most relevant players stay."""

import numpy as np

from attrial.ask import Asking
from attrial.curves import bin_sizes
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._bins import mean_over_bins, weights
from attrial.metrics._orders import extremal
from attrial.metrics._ranks import only_tops

DIRECTION = "lower"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 2


def sufficiency(
    x: Example,
    scores: Scores,
    *,
    seed: int,
    bins: tuple[float, ...] = (0.01, 0.05, 0.1, 0.2, 0.5),
    zero_bin: bool = False,
    beam: int = 6,
) -> Asking[float]:
    """Mean drop when only the top players stay (ERASER, DeYoung et al. 2020). Lower is better.

    v(all) - v(the top k), k = ceil(share x n), averaged over the bins. In [-1, 1] for a
    probability; below 0 where the top alone convince more than the whole. Ties are averaged.

    Formula:
        1/|B| Σ_{q in B} [v(all) − v(the ⌈q n⌉ highest alone)]
        zero_bin=True divides by |B| + 1

    Range:
        −1 to 1 for a probability; below 0 where the top alone convince more than the whole.

    Direction:
        Lower is better.

    Source:
        DeYoung et al., ACL 2020 (ERASER), arXiv:1911.03429, equation 2. Not the sufficiency of
        Dasgupta et al. 2022, which Quantus has under this name.

    When not to use:
        On texts of a few words, where the small bins all mean one word. Where the empty input is
        decided for the class already: anything is sufficient. Beside tables that negate it: here
        lower is better. With one removal alone: half a text and less is what a model is least used
        to.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        bins: Shares of the players, each in (0, 1].
        zero_bin: False divides by the number of bins, as ERASER's code and the published numbers
            do; True divides by one more, as equation 3 of the paper does, counting 0 for that bin.
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players.
    """
    sizes = np.append(x.n, bin_sizes(bins, x.n))
    values = yield from only_tops(scores, sizes, seed=seed)
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
    low, high = yield from extremal(x.n, weights(bins, x.n), beam=beam)
    return high, low
