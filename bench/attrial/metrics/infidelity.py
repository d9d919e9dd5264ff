"""Squared error of sums of scores as predictions of drops."""

import numpy as np

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Floats, Scores
from attrial.metrics._sets import drops, must_have_players, of_any_size, worth
from attrial.metrics._soft import at_random

DIRECTION = "lower"
READS = "log_odds"
FAMILY = "faithfulness"
UNIT = "nats^2"
RANKED = False
VERSION = 3
DRAWS = 50  # of random attributions


def infidelity(
    x: Example, scores: Scores, *, seed: int, scaled: bool = False, samples: int = 200
) -> Asking[float]:
    """Mean squared error of scores as predictions of drops (Yeh et al. 2019). Lower is better.

    Over uniformly random sets S: (sum of the scores in S - (v(all) - v(all but S)))^2. At least 0;
    0 for the weights of an additive model. Without scaling it depends on the unit of the scores, so
    it can't compare methods that don't explain in the target's unit.

    Formula:
        E_S (Σ_{i in S} s_i − [v(all) − v(all but S)])²,  S uniform over all sets
        scaled=True: s times the factor of least squares

    Range:
        0 and up; 0 for the weights of an additive model.

    Direction:
        Lower is better.

    Source:
        Yeh et al., NeurIPS 2019, arXiv:1901.09392, with removal of random sets as the perturbation.

    When not to use:
        To compare methods that explain in unlike units: a hundredfold score is punished, though its
        order is the same; use ``scaled=True``. To compare tasks or models: it grows with the square
        of the target's range. Beside captum's value, which multiplies attributions by the
        perturbation of the embedding itself.

    Args:
        x: The example.
        scores: (n,), higher = more relevant.
        seed: Of the sets.
        scaled: Multiply the scores by the factor that fits best, as Yeh et al. do for comparison.
        samples: How many sets; all 2^n, where there are no more.

    Raises:
        Undefined: If there are no players.
    """
    must_have_players(x.n)
    gone = of_any_size(x.n, samples=samples, seed=seed)
    said, fell = worth(gone, scores), (yield from drops(gone))
    factor = best_factor(said, fell) if scaled else 1.0
    return float(((factor * said - fell) ** 2).mean())


def best_factor(said: Floats, fell: Floats) -> float:
    """The factor of least squares; 0 for scores that say nothing."""
    power = float(said @ said)
    return float(said @ fell) / power if power else 0.0


def expected(x: Example, *, seed: int, scaled: bool = False, samples: int = 200) -> Asking[float]:
    """The mean over many random attributions, uniform in [0, 1], each with its best factor.

    Random ones have no unit to be drawn in. So chance gets the best one, without scaling too:
    scores of 0 would be worse than random ones of a fitting unit, and nobody's chance.
    """
    must_have_players(x.n)
    gone = of_any_size(x.n, samples=samples, seed=seed)
    fell = yield from drops(gone)
    said = [worth(gone, row) for row in at_random(x.n, draws=DRAWS, seed=seed)]
    return float(np.mean([((best_factor(s, fell) * s - fell) ** 2).mean() for s in said]))
