"""LIME: the slopes of a linear model fitted to the value near the input (Ribeiro et al. 2016)."""

from attrial.ask import Asking, keep
from attrial.errors import AttrialError
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._neighbours import kernel, neighbours
from attrial_methods._options import at_least
from attrial_methods._surrogate import ridge

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def lime(
    x: Example,
    *,
    seed: int,
    samples: int = 2000,
    sampling: str = "sizes",
    kernel_width: float | None = 25.0,
    alpha: float = 1.0,
) -> Asking[Scores]:
    """Score each player by its slope in a ridge regression on its presence in perturbed inputs.

    A set weighs once, as a weight of squared errors. Where ``samples`` pays for all 2^n sets, each
    is asked once and counts as often as it would be drawn.

    Formula:
        min_{b, s} Σ_S π(S) (v(S) − b − Σ_{i in S} s_i)² + alpha ‖s‖²
        π(S) = exp(−d² / 2 kernel_width²),  d = 100 (1 − sqrt(|S|/n)), the cosine distance to all

    Source:
        Ribeiro, Singh, Guestrin, KDD 2016, arXiv:1602.04938.

    Traps:
        With ``sampling="uniform"``, no kernel and no penalty it is the Banzhaf value; with a kernel
        it is neither that nor the Shapley value. captum's 50 samples under a lasso are a straw man.
        Code that multiplies both inputs and targets by the weights, or draws by the kernel and
        weighs by it too, applies it twice. A ridge penalty shrinks all scores where samples are
        few.

    Args:
        x: The example.
        seed: Of the draws.
        samples: Model rows.
        sampling: ``sizes``: the number of players removed is drawn evenly from 1 to n, then which
            (LIME's text explainer); ``uniform``: each player stays with probability 1/2.
        kernel_width: 25 in LIME's text explainer; None for equal weights.
        alpha: Ridge penalty; 1 in LIME.
    """
    at_least("lime", "samples", samples, 2)
    if sampling not in ("sizes", "uniform"):
        raise AttrialError(f"lime: sampling={sampling!r}; it takes sizes or uniform")
    sets, counts = neighbours(x.n, samples, sampling, seed)
    values = yield from keep(sets)
    return ridge(sets, values, counts * kernel(sets, kernel_width), alpha)
