"""Correlation of sums of scores with drops, size by size."""

import numpy as np

from attrial.ask import Asking
from attrial.errors import AttrialError, Undefined
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


def sensitivity_n(
    x: Example, scores: Scores, *, seed: int, size: int | None = None, samples: int = 50
) -> Asking[float]:
    """Correlation of scores and drops of sets of n players (Ancona et al. 2018). Higher is better.

    Over random sets S of each size: sum of the scores in S against v(all) - v(all but S). In [-1,
    1]; 1 at every size for the weights of an additive model.

    Formula:
        mean over sizes m of corr_S(Σ_{i in S} s_i, v(all) − v(all but S)),  |S| = m

    Range:
        −1 to 1; 1 at every size for the weights of an additive model.

    Direction:
        Higher is better.

    Source:
        Ancona et al., ICLR 2018, arXiv:1711.06104.

    When not to use:
        With all players in the set: there is one such set, and no correlation. For scores that
        don't claim to add up. With few samples a size on long texts: the single correlations are
        noise, though their mean over sizes is less so.

    Args:
        x: The example.
        scores: (n,), higher = more relevant.
        seed: Of the sets.
        size: Of the sets; None for the mean over every size from 1 to all players but one.
        samples: How many sets of a size; all of them, each once, where there are no more.

    Raises:
        Undefined: If there are fewer than two players, there is only one set of the size, or the
            scores or the answers are constant.
        AttrialError: If ``size`` is less than 1.
    """
    must_have_players(x.n, 2)
    if size is not None and size < 1:
        raise AttrialError(f"size must be at least 1, got {size}")
    if size is not None and size >= x.n:
        raise Undefined("only one set of this size")
    sizes = range(1, x.n) if size is None else [size]
    gone = [of_size(x.n, k, samples=samples, seed=seed) for k in sizes]
    fell = yield from drops(np.concatenate(gone))
    parts = np.split(fell, np.cumsum([len(sets) for sets in gone])[:-1])
    pairs = zip(gone, parts, strict=True)
    return float(np.mean([pearson(worth(sets, scores), part) for sets, part in pairs]))


def expected(x: Example, *, seed: int, size: int | None = None, samples: int = 50) -> Asking[float]:
    """Random scores, symmetric about 0: a correlation is as likely as its opposite."""
    yield from ()
    return 0.0
