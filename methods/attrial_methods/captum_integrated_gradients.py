"""Captum's IntegratedGradients; its gradients are answers to questions."""

from typing import TYPE_CHECKING, Any

from attrial.ask import Asking, note
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._captum import of_shares
from attrial_methods._options import at_least

if TYPE_CHECKING:
    from torch import Tensor

    from attrial_methods._captum import Forward

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = False
ASKS = ("slope",)
VERSION = 1


def captum_integrated_gradients(
    x: Example,
    *,
    seed: int,
    steps: int = 50,
    baseline: str = "zero",
    quadrature: str = "gausslegendre",
) -> Asking[Scores]:
    """Captum's IntegratedGradients: 50 steps from zero embeddings, however large the gap is.

    The scores should sum to y(input) - y(baseline); how far they miss it (the library's convergence
    delta) is noted as ``completeness_gap``.

    Formula:
        s_i = Σ_{t in player i} ⟨x_t − b_t, Σ_k w_k ∂y/∂x_t (b + a_k (x − b))⟩

    Source:
        The captum package's IntegratedGradients; Sundararajan, Taly, Yan, ICML 2017,
        arXiv:1703.01365.

    Traps:
        A zero embedding is the default baseline, which is no word of any model. The steps are
        fixed: whether 50 suffice only the noted gap tells. The weights of ``riemann_trapezoid`` sum
        to (steps - 1) / steps: its scores are too small by that factor.

    Args:
        x: The example.
        seed: Of a ``sampled`` baseline; without use otherwise.
        steps: Gradients; 50 is the library's default (``n_steps``).
        baseline: Embedding to start from; the library's default is zero. Others are those of
            ``integrated_gradients``.
        quadrature: The library's ``method``: ``gausslegendre``, ``riemann_trapezoid``,
            ``riemann_left``, ``riemann_right`` or ``riemann_middle``.
    """
    at_least("captum_integrated_gradients", "steps", steps, 1)
    gaps: list[float] = []

    def attribution(attr: Any, value: "Forward", ones: "Tensor") -> "Tensor":  # noqa: ANN401
        found: Tensor
        found, delta = attr.IntegratedGradients(value).attribute(
            ones, n_steps=steps, method=quadrature, return_convergence_delta=True
        )
        gaps.append(abs(float(delta)))
        return found

    scores = yield from of_shares(x, attribution, baseline=baseline, seed=seed)
    yield from note({"completeness_gap": gaps[0]})
    return scores
