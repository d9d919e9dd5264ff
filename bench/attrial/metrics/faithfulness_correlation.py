"""Correlation of sums of scores with drops, over random sets of one size."""

from attrial.ask import Asking
from attrial.curves import bin_sizes
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._agreement import pearson
from attrial.metrics._sets import drops, must_have_players, of_size, worth

DIRECTION = "higher"
READS = "log_odds"
FAMILY = "faithfulness"
UNIT = ""
RANKED = False
VERSION = 1


def faithfulness_correlation(
    x: Example, scores: Scores, *, seed: int, share: float = 0.2, samples: int = 100
) -> Asking[float]:
    """Pearson correlation of scores and drops of random sets (Bhatt et al. 2020). Higher is better.

    Over random sets S of one size: sum of the scores in S against v(all) - v(all but S). In [-1,
    1]; 1 for the weights of an additive model, at any scale.

    Formula:
        corr_S(Σ_{i in S} s_i, v(all) − v(all but S)),  |S| = ⌈share · n⌉, S drawn evenly

    Range:
        −1 to 1; 1 for the weights of an additive model at any scale.

    Direction:
        Higher is better.

    Source:
        Bhatt, Weller, Moura, IJCAI 2020, arXiv:2005.00631.

    When not to use:
        For scores that don't claim to add up (attention, gradient norms): a monotone change of the
        scores changes the value, and ``linear_datamodelling`` asks for order alone. For unsigned
        scores on texts with evidence against the class. On very short texts: there are few sets of
        one size, and a correlation of three points is noise.

    Args:
        x: The example.
        scores: (n,), higher = more relevant.
        seed: Of the sets.
        share: Of the players in a set, rounded up.
        samples: How many sets; all of the size, each once, where there are no more.

    Raises:
        Undefined: If there are too few players, or the scores or the answers are constant.
    """
    must_have_players(x.n)
    gone = of_size(x.n, int(bin_sizes((share,), x.n)[0]), samples=samples, seed=seed)
    return pearson(worth(gone, scores), (yield from drops(gone)))


def expected(x: Example, *, seed: int, share: float = 0.2, samples: int = 100) -> Asking[float]:
    """Random scores, symmetric about 0: a correlation is as likely as its opposite."""
    yield from ()
    return 0.0
