"""Shapley interaction indices of pairs: what two players add only together."""

import numpy as np

from attrial.ask import Asking, keep, note
from attrial.example import Example
from attrial.interactions import noted
from attrial.masks import Scores, all_subsets, everything, nothing
from attrial_methods._all_sets import pair_indices, shapley_values
from attrial_methods._gap import gap_noted
from attrial_methods._options import at_least
from attrial_methods._pairs import estimated, sampled
from attrial_methods._sets import affordable

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def shapley_interactions(
    x: Example, *, seed: int, samples: int = 2000, exact_up_to: int = 12
) -> Asking[Scores]:
    """Score each player by its main effect and half of its interactions; note them as a matrix.

    Main effects are defined so that the sum is the Shapley value: the scores are those of
    ``shapley``. The matrix has main effects on its diagonal and interactions off it, so that a
    player's score is its diagonal entry and half of the rest of its row.

    Formula:
        I_ij = sum over sets S without i and j of |S|! (n - |S| - 2)! / (n - 1)! times
        v(S + i + j) - v(S + i) - v(S + j) + v(S).

    Source:
        Grabisch, Roubens. An axiomatic approach to the concept of interaction among players in
        cooperative games. International Journal of Game Theory 1999. Main effects: Lundberg,
        Erion, Lee. Consistent Individualized Feature Attribution for Tree Ensembles. 2018.

    Traps:
        Above ``exact_up_to`` players (unless ``samples`` pays for all sets) the matrix is drawn: a
        pair seen in few sets is noisy, and one that the rows don't reach is 0. ``pairs_asked`` is
        noted: the share of pairs that were reached. The pairs are many: n (n - 1) / 2.

    Args:
        x: The example.
        seed: Of the draws.
        samples: Model rows at most where sets are drawn; n + 4 at least.
        exact_up_to: Players up to which all 2^n sets are asked.
    """
    at_least("shapley_interactions", "samples", samples, 1)
    if affordable(x.n, samples, exact_up_to=exact_up_to):
        values = yield from keep(all_subsets(x.n))
        scores, pairs = shapley_values(values, x.n), pair_indices(values, x.n)
        change, share = values[-1] - values[0], 1.0
    else:
        draws = sampled(x.n, samples - 2, seed)
        values = yield from keep(np.concatenate([nothing(x.n), everything(x.n), draws.rows]))
        scores, pairs, share = estimated(draws, values[2:])
        change = values[1] - values[0]
        scores = scores + (change - scores.sum()) / x.n
    matrix = pairs + np.diag(scores - pairs.sum(1) / 2)
    yield from note(noted(matrix) | {"pairs_asked": share})
    return (yield from gap_noted(scores, change))
