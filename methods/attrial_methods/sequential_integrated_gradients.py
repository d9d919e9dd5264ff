"""Sequential integrated gradients: one player at a time leaves its baseline (Enguehard 2023)."""

import numpy as np

from attrial.ask import Asking, note, slope
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._options import at_least
from attrial_methods._quadrature import rule

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("slope",)
VERSION = 1


def sequential_integrated_gradients(
    x: Example,
    *,
    seed: int,
    steps: int = 20,
    baseline: str = "reference",
    quadrature: str = "gauss_legendre",
) -> Asking[Scores]:
    """Score each player by the integral on its own way from the baseline, all others staying.

    The integral of a player's own gradients on its own way is y(input) - y(input with that player
    at the baseline): in the limit of many steps this is occlusion by the baseline's embedding,
    reached by gradients. The largest distance to that is noted as ``completeness_gap``.
    (The paper divides by the scores' norm at the end, which no ranking sees.)

    Args:
        x: The example.
        seed: Of a ``sampled`` baseline; without use otherwise.
        steps: Gradients asked for a player.
        baseline: Embedding to start from, as in ``integrated_gradients``.
        quadrature: ``gauss_legendre``, ``midpoint``, ``trapezoid``, ``left`` or ``right``.
    """
    at_least("sequential_integrated_gradients", "steps", steps, 1)
    at, weights = rule(quadrature, steps)
    shares = np.concatenate([at, [0.0, 1.0]])
    points = np.ones((x.n, len(shares), x.n))
    points[np.arange(x.n), :, np.arange(x.n)] = shares
    slopes = yield from slope(points.reshape(-1, x.n), baseline=baseline, seed=seed)
    parts = x.to_players((slopes.gradient * slopes.difference).sum(-1)).reshape(points.shape)
    scores = weights @ np.diagonal(parts, axis1=0, axis2=2)[: len(at)]
    values = slopes.values.reshape(x.n, -1)
    gap = np.abs(scores - (values[:, -1] - values[:, -2])).max()
    yield from note({"completeness_gap": float(gap)})
    return np.asarray(scores)
