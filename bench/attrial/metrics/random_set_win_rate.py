"""How many random sets of the same size the most relevant players beat."""

import numpy as np

from attrial.ask import Asking, note
from attrial.curves import bin_sizes
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._ranks import tops
from attrial.metrics._sets import drawn_of_size, drops, must_have_players

DIRECTION = "higher"
READS = "probability"
FAMILY = "faithfulness"
UNIT = ""
RANKED = True
VERSION = 1


def random_set_win_rate(
    x: Example, scores: Scores, *, seed: int, share: float = 0.2, samples: int = 200
) -> Asking[float]:
    """Share of random sets whose leaving hurts less than the top players' (ICE). Higher is better.

    Tied players are averaged. Notes ``p_value``: (1 + number of sets that hurt at least as much) /
    (1 + samples).

    Formula:
        mean_R 1[d(T) > d(R)] + ½ 1[d(T) = d(R)],  R drawn evenly, |R| = |T| = k = ⌈share · n⌉
        d(S) = v(all) − v(all but S),  T = the k highest

    Range:
        0 to 1; 1/2 for a random order.

    Direction:
        Higher is better.

    Source:
        ICE, Findings of EMNLP 2026: randomised comparison with sets of the same size.

    When not to use:
        With fewer than 200 samples (it refuses): with 20 no p-value can be below 1/21. To tell
        strong methods apart: all of them win nearly always on long texts. On very short texts,
        where few sets of the size exist.

    Args:
        x: The example.
        scores: (n,), higher = more relevant; only their order matters.
        seed: Of the sets, and of the sample of ties.
        share: Of the players in a set, in (0, 1].
        samples: How many sets; with fewer than 200 no p-value is small.

    Raises:
        Undefined: If there are no players.
        AttrialError: If there are fewer than 200 samples.
    """
    must_have_players(x.n)
    if samples < 200:
        raise AttrialError(f"samples must be at least 200, got {samples}")
    k = int(bin_sizes((share,), x.n)[0])
    mine = tops(scores, [k], seed=seed).masks
    gone = np.concatenate([mine, drawn_of_size(x.n, k, samples=samples, seed=seed)])
    fell = yield from drops(gone)
    own, others = fell[: len(mine), None], fell[None, len(mine) :]
    yield from note({"p_value": float((1 + (others >= own).sum(1)).mean() / (1 + samples))})
    return float(((own > others) + 0.5 * (own == others)).mean())
