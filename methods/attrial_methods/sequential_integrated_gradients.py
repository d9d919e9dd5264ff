"""Sequential integrated gradients: one player at a time leaves its baseline (Enguehard 2023)."""

import numpy as np

from attrial.ask import Asking, note
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._options import within
from attrial_methods._quadrature import rule
from attrial_methods._ways import MOST, along

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

    In the limit of many steps this is occlusion by the baseline's embedding, reached by gradients.
    The largest distance to that is noted as ``completeness_gap``.

    Formula:
        s_i = Σ_{t in player i} ⟨x_t − b_t, ∫_0^1 ∂y/∂x_t (x with player i at b + a (x − b)) da⟩
            → y(x) − y(x with player i at b)

    Source:
        Enguehard, Findings of ACL 2023, arXiv:2305.15853.

    Traps:
        It costs n times the gradients of integrated gradients: on long inputs take few steps or
        sentences for players. Being occlusion in the limit, it
        shares its faults: copies of evidence hide each other, and the scores don't sum to anything.
        The paper divides by the scores' norm at the end, which no ranking sees.

    Args:
        x: The example.
        seed: Of a ``sampled`` baseline; without use otherwise.
        steps: Gradients asked for a player.
        baseline: Embedding to start from, as in ``integrated_gradients``.
        quadrature: ``gauss_legendre``, ``midpoint``, ``trapezoid``, ``left`` or ``right``.
    """
    within("sequential_integrated_gradients", "steps", steps, 1, MOST)
    at, weights = rule(quadrature, steps)
    points = np.ones((x.n, steps, x.n))
    points[np.arange(x.n), :, np.arange(x.n)] = at
    left_out, full = 1 - np.eye(x.n), np.ones((1, x.n))  # the ends of all ways: one is theirs all
    asked = np.concatenate([points.reshape(-1, x.n), left_out, full])
    dotted, told = yield from along(asked, baseline=baseline, seed=seed)
    parts = x.to_players(dotted[: x.n * steps]).reshape(points.shape)
    scores = weights @ np.diagonal(parts, axis1=0, axis2=2)
    gap = np.abs(scores - (told[-1] - told[-1 - x.n : -1])).max()
    yield from note({"completeness_gap": float(gap)})
    return np.asarray(scores)
