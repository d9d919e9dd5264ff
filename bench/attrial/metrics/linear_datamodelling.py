"""Rank correlation of sums of scores with values, over random sets that stay."""

import numpy as np

from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import Scores
from attrial.metrics._agreement import spearman
from attrial.metrics._sets import must_have_players, of_any_size, settled, worth
from attrial.metrics._soft import at_random

DIRECTION = "higher"
READS = "log_odds"
FAMILY = "faithfulness"
UNIT = ""
RANKED = False
VERSION = 2
DRAWS = 50  # of random attributions


def linear_datamodelling(
    x: Example, scores: Scores, *, seed: int, samples: int = 100
) -> Asking[float]:
    """Spearman of scores and values of random kept sets (LDS, Park et al. 2023). Higher is better.

    Over uniformly random sets S that stay: sum of the scores in S against v(S), as ContextCite
    (Cohen-Wang et al. 2024) has it. In [-1, 1]; 1 for the weights of an additive model.

    Formula:
        Spearman_S(Σ_{i in S} s_i, v(S)),  each player in S with probability 1/2

    Range:
        −1 to 1; 1 for the weights of an additive model.

    Direction:
        Higher is better.

    Source:
        Park et al., ICML 2023 (TRAK), arXiv:2303.14186; for parts of a context: Cohen-Wang et al.,
        NeurIPS 2024 (ContextCite), arXiv:2409.00729.

    When not to use:
        To praise surrogates: ContextCite, LIME and Banzhaf values are fitted to just these sets.
        Where only the top players matter: it looks at sets of about half the players. On models
        that break with half of the words gone.

    Args:
        x: The example.
        scores: (n,), higher = more relevant.
        seed: Of the sets.
        samples: How many sets; all 2^n, where there are no more.

    Raises:
        Undefined: If there are too few players, or the scores or the answers are constant.
    """
    must_have_players(x.n)
    kept = of_any_size(x.n, samples=samples, seed=seed)
    return spearman(settled(worth(kept, scores)), (yield from keep(kept)))


def expected(x: Example, *, seed: int, samples: int = 100) -> Asking[float]:
    """Random attributions, uniform in [0, 1]; not 0, as larger sets sum and reach more by chance.

    The mean of many draws. All scores alike get more than 0 too: sums count the players that stay.

    Raises:
        Undefined: If there are no players, or the answers are constant.
    """
    must_have_players(x.n)
    kept = of_any_size(x.n, samples=samples, seed=seed)
    values = yield from keep(kept)
    drawn = at_random(x.n, draws=DRAWS, seed=seed)
    return float(np.mean([spearman(settled(worth(kept, row)), values) for row in drawn]))
