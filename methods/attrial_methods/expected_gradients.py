"""Expected gradients: integrated gradients over baselines that are drawn (Erion et al. 2021)."""

import numpy as np

from attrial.ask import Asking, note
from attrial.example import Example
from attrial.masks import Floats, Scores
from attrial_methods._options import within
from attrial_methods._ways import MOST_DRAWS, along

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = True
ASKS = ("slope",)
BUDGET = "samples"
BUDGET_ROWS = (2, 1)  # a sample, and beside them
VERSION = 1


def expected_gradients(
    x: Example, *, seed: int, samples: int = 200, baseline: str = "sampled"
) -> Asking[Scores]:
    """Score each player by the mean of <input - b, gradient at a point between b and the input>.

    Every sample draws a baseline b, whose tokens come from the vocabulary at random, and a point on
    the way; the points are spread over strata of [0, 1]. How far the scores miss their sum is noted
    as ``completeness_gap``.

    Formula:
        s_i = E_{b, a} Σ_{t in player i} ⟨x_t − b_t, ∂y/∂x_t (b + a (x − b))⟩,  a uniform in [0, 1]
        Σ_i s_i → y(x) − E y(b)

    Source:
        Erion et al., Nature Machine Intelligence 2021, arXiv:1906.10670.

    Traps:
        With captum's 5 samples it is noise; here 200 are the default, and the gap tells. Random
        token embeddings are inputs that the model never saw as text. Noise added to the input, as
        some implementations have it, is another method.

    Args:
        x: The example.
        seed: Of the draws.
        samples: Baselines, with a gradient on the way and one at each baseline (for the gap).
        baseline: ``sampled``; or one name of ``integrated_gradients``, whose integral then is taken
            by random points.
    """
    within("expected_gradients", "samples", samples, 1, MOST_DRAWS)
    ways = _strata(samples, seed)
    shares = np.concatenate([ways, np.zeros(samples), [1.0]])
    draws = np.concatenate([np.arange(samples), np.arange(samples), [0]])
    every = np.repeat(shares[:, None], x.n, axis=1)
    parts, values = yield from along(every, baseline=baseline, seed=seed, draws=draws)
    scores = x.to_players(parts[:samples].mean(0))
    change = float(values[-1] - values[samples:-1].mean())
    yield from note({"completeness_gap": abs(float(scores.sum()) - change)})
    return scores


def _strata(count: int, seed: int) -> Floats:
    """One point in each of ``count`` equal parts of [0, 1], in random order."""
    rng = np.random.default_rng(seed)
    return np.asarray((rng.permutation(count) + rng.random(count)) / count)
