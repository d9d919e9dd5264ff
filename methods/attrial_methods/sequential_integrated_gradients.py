"""Sequential integrated gradients: one player at a time leaves its baseline (Enguehard 2023)."""

import numpy as np

from attrial.ask import Asking, note
from attrial.example import Example
from attrial.masks import Floats, Scores
from attrial_methods._options import within
from attrial_methods._quadrature import rule
from attrial_methods._ways import MOST, along

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("slope",)
VERSION = 2  # no reference is a zero embedding, as padding often is; long inputs get fewer steps
MOST_GRADIENTS = 1_000_000


def sequential_integrated_gradients(
    x: Example,
    *,
    seed: int,
    steps: int = 20,
    baseline: str = "reference",
    quadrature: str = "gauss_legendre",
    gradients: int = 1000,
) -> Asking[Scores]:
    """Score each player by the integral on its own way from the baseline, all others staying.

    In the limit of many steps this is occlusion by the baseline's embedding, reached by gradients.
    The largest distance to that is noted as ``completeness_gap``, and the ``steps`` that a player
    got. Long inputs get fewer than asked for, so that no input takes more than ``gradients``; that
    is noted as ``bounded``, and a board says on how many examples it was so.

    Formula:
        s_i = Σ_{t in player i} ⟨x_t − b_t, ∫_0^1 ∂y/∂x_t (x with player i at b + a (x − b)) da⟩
            → y(x) − y(x with player i at b)

    Source:
        Enguehard, Findings of ACL 2023, arXiv:2305.15853.

    Traps:
        It costs n times the gradients of integrated gradients; at the default bound the 20 steps
        hold up to 47 players, 100 players get 8, and from 500 on the two ends of each way have to
        do. Rows of short and of long inputs then differ in how exact they are: read the gap, or
        take sentences for players. Being occlusion in the limit, it
        shares its faults: copies of evidence hide each other, and the scores don't sum to anything.
        The paper divides by the scores' norm at the end, which no ranking sees.

    Args:
        x: The example.
        seed: Of a ``sampled`` baseline; without use otherwise.
        steps: Gradients asked for a player, while the bound allows.
        baseline: Embedding to start from, as in ``integrated_gradients``.
        quadrature: ``gauss_legendre``, ``midpoint``, ``trapezoid``, ``left`` or ``right``.
        gradients: Most gradients for one input. Steps are taken back to that, down to a trapezoid
            over the ends of each way, which is n + 1 gradients and the least there is.
    """
    within("sequential_integrated_gradients", "steps", steps, 1, MOST)
    within("sequential_integrated_gradients", "gradients", gradients, 1, MOST_GRADIENTS)
    taken = min(steps, max(0, (gradients - 1) // x.n - 1)) if x.n else steps
    at, weights = rule(quadrature, taken) if taken else rule("trapezoid", 1)
    slopes, changes = yield from _at(x, at, baseline, seed)
    scores = weights @ slopes
    gap = float(np.abs(scores - changes).max())
    noted = {"completeness_gap": gap, "steps": float(taken), "bounded": float(taken < steps)}
    yield from note(noted)
    return np.asarray(scores)


def _at(x: Example, at: Floats, baseline: str, seed: int) -> Asking[tuple[Floats, Floats]]:
    """Each player's slope at these shares of its own way (k, n), and the change along it (n,).

    The ends are asked about in any case, since they tell the change; all ways share one of them.
    """
    between = (at > 0) & (at < 1)
    points = np.ones((x.n, int(between.sum()), x.n))
    points[np.arange(x.n), :, np.arange(x.n)] = at[between]
    left_out, full = 1 - np.eye(x.n), np.ones((1, x.n))
    asked = np.concatenate([points.reshape(-1, x.n), left_out, full])
    dotted, told = yield from along(asked, baseline=baseline, seed=seed)
    parts = x.to_players(dotted)
    slopes = np.empty((len(at), x.n))
    slopes[between] = np.diagonal(parts[: -1 - x.n].reshape(points.shape), axis1=0, axis2=2)
    slopes[at == 0], slopes[at == 1] = np.diagonal(parts[-1 - x.n : -1]), parts[-1]
    return slopes, told[-1] - told[-1 - x.n : -1]
