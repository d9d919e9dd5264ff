"""Integrated gradients: the mean gradient on the way to the input (Sundararajan et al. 2017)."""

import numpy as np

from attrial.ask import Asking, note, slope
from attrial.errors import AttrialError, near
from attrial.example import Example
from attrial.masks import Floats, Scores

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = False
ASKS = ("slope",)
VERSION = 1

RELATIVE, ABSOLUTE = 0.01, 1e-4  # completeness gaps that are small enough


def integrated_gradients(
    x: Example,
    *,
    seed: int,
    steps: int = 20,
    baseline: str = "reference",
    quadrature: str = "gauss_legendre",
    refine: bool = True,
    cap: int = 320,
) -> Asking[Scores]:
    """Score each player by <input - baseline, integral of the gradient on the straight way there>.

    The scores sum to y(input) - y(baseline) up to the quadrature's error, the completeness gap,
    which is noted. With ``refine`` the steps are doubled until the gap is under 1 % of that
    difference or under 1e-4, or the next doubling would pass ``cap``; ``converged`` says which.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
        steps: Gradients asked for at first.
        baseline: Embedding to start from, as in ``ask.Slope``.
        quadrature: ``gauss_legendre``, ``midpoint``, ``trapezoid``, ``left`` or ``right``.
        refine: Whether to double the steps.
        cap: Most steps.
    """
    if quadrature not in RULES:
        raise AttrialError(f"no quadrature {quadrature!r}; {near(quadrature, RULES)}")
    if steps < 1:
        raise AttrialError(f"integrated_gradients: steps={steps}; it takes 1 or more")
    while True:
        scores, gap, change = yield from _integrate(x, steps, baseline, quadrature)
        converged = gap < max(RELATIVE * abs(change), ABSOLUTE)
        if converged or not refine or 2 * steps > cap:
            break
        steps *= 2
    yield from note({"completeness_gap": gap, "steps": steps, "converged": float(converged)})
    return scores


def _integrate(
    x: Example, steps: int, baseline: str, quadrature: str
) -> Asking[tuple[Scores, float, float]]:
    """Scores, their completeness gap, and the change that they should sum to."""
    at, weights = RULES[quadrature](steps)
    shares = np.concatenate([at, [0.0, 1.0]])  # the ends tell what the scores should sum to
    slopes = yield from slope(np.repeat(shares[:, None], x.n, axis=1), baseline=baseline)
    parts = (slopes.gradient * slopes.difference).sum(-1)[: len(at)]
    scores = x.to_players(weights @ parts)
    change = float(slopes.values[-1] - slopes.values[-2])
    return scores, abs(float(scores.sum()) - change), change


def _gauss_legendre(steps: int) -> tuple[Floats, Floats]:
    at, weights = np.polynomial.legendre.leggauss(steps)
    return (at + 1) / 2, weights / 2


def _midpoint(steps: int) -> tuple[Floats, Floats]:
    return (np.arange(steps) + 0.5) / steps, np.full(steps, 1 / steps)


def _left(steps: int) -> tuple[Floats, Floats]:
    return np.arange(steps) / steps, np.full(steps, 1 / steps)


def _right(steps: int) -> tuple[Floats, Floats]:
    return np.arange(1, steps + 1) / steps, np.full(steps, 1 / steps)


def _trapezoid(steps: int) -> tuple[Floats, Floats]:
    weights = np.full(steps + 1, 1 / steps)
    weights[[0, -1]] /= 2
    return np.arange(steps + 1) / steps, weights


RULES = {
    "gauss_legendre": _gauss_legendre,
    "midpoint": _midpoint,
    "trapezoid": _trapezoid,
    "left": _left,
    "right": _right,
}
