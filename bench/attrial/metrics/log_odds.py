"""Change of the log-probability when the most relevant players leave."""

from attrial.ask import Asking
from attrial.curves import bin_sizes
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._bins import weights
from attrial.metrics._orders import extremal
from attrial.metrics._ranks import without_tops

DIRECTION = "lower"
READS = "log_probability"
FAMILY = "faithfulness"
UNIT = "nats"
RANKED = True
VERSION = 2


def log_odds(
    x: Example, scores: Scores, *, seed: int, share: float = 0.2, beam: int = 6
) -> Asking[float]:
    """Log of probability after over before the top leave (Shrikumar et al. 2017). Lower is better.

    No probability is 0 here: logarithms are taken of logits. Ties are averaged.

    Formula:
        log p(all but the ⌈share · n⌉ highest) − log p(all)

    Range:
        −∞ to −log p(all) nats; 0 where nothing changes.

    Direction:
        Lower is better.

    Source:
        Shrikumar, Greenside, Kundaje, ICML 2017, arXiv:1704.02685; this form: Sanyal & Ren, EMNLP
        2021, arXiv:2108.13654.

    When not to use:
        As a mean where single texts collapse: one log-probability of −20 outweighs all others, so
        look at the interval. The name is the literature's; the log-odds of a class are another
        function, which additive metrics read.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sample of ties, where they are too many to list.
        share: Of the players that leave, in (0, 1].
        beam: Sets a size that the search for the best and worst order keeps, from 13 to 40 players;
            above them it is bounded otherwise.

    Raises:
        Undefined: If there are no players.
    """
    sizes = [0, *bin_sizes((share,), x.n)]
    whole, left = yield from without_tops(scores, sizes, seed=seed)
    return float(left - whole)


def extremes(
    x: Example, *, seed: int, share: float = 0.2, beam: int = 6
) -> Asking[tuple[Scores, Scores]]:
    """Scores (n,) of the order that is best at this share, and of the worst."""
    low, high = yield from extremal(x.n, weights((share,), x.n)[::-1], beam=beam)
    return -low, -high
