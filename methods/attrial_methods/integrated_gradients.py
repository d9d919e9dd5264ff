"""Integrated gradients: the mean gradient on the way to the input (Sundararajan et al. 2017)."""

from attrial.ask import Asking, note
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._options import within
from attrial_methods._quadrature import rule
from attrial_methods._ways import MOST, integrate

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = False
ASKS = ("slope",)
VERSION = 2  # the reference is no zero embedding, as padding often is

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

    Formula:
        s_i = Σ_{t in player i} ⟨x_t − b_t, ∫_0^1 ∂y/∂x_t (b + a (x − b)) da⟩
        Σ_i s_i = y(x) − y(b)

    Source:
        Sundararajan, Taly, Yan, ICML 2017, arXiv:1703.01365.

    Traps:
        Another baseline is another question: a zero embedding may be further from "no word" than
        the mask token. Left and right sums need ten times the steps of Gauss-Legendre for the same
        gap; without the gap nobody knows. Under a scale-invariant first norm (RMSNorm) a zero
        baseline never converges. Special tokens, position ids and the attention mask must stay
        those of the input.

    Args:
        x: The example.
        seed: Of a ``sampled`` baseline; without use otherwise.
        steps: Gradients asked for at first.
        baseline: Embedding to start from: ``reference`` (mask token, else pad, else unknown, the
            first that isn't all zeros, else mean), ``mask``, ``pad``, ``unk``, ``zero``, ``mean``,
            or ``sampled`` (one draw).
        quadrature: ``gauss_legendre``, ``midpoint``, ``trapezoid``, ``left`` or ``right``.
        refine: Whether to double the steps.
        cap: Most steps.
    """
    within("integrated_gradients", "steps", steps, 1, MOST)
    within("integrated_gradients", "cap", cap, 1, MOST)
    while True:
        scores, gap, change = yield from integrate(x, rule(quadrature, steps), baseline, seed)
        converged = gap < max(RELATIVE * abs(change), ABSOLUTE)
        if converged or not refine or 2 * steps > cap:
            break
        steps *= 2
    yield from note({"completeness_gap": gap, "steps": steps, "converged": float(converged)})
    return scores
