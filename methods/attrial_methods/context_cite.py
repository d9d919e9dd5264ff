"""ContextCite: a sparse linear model of random ablations (Cohen-Wang et al. 2024)."""

from attrial.ask import Asking, keep, note
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._options import at_least
from attrial_methods._sets import uniform_sets
from attrial_methods._surrogate import lasso

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def context_cite(
    x: Example, *, seed: int, samples: int = 64, alpha: float = 0.01
) -> Asking[Scores]:
    """Score each player by its slope in a lasso on standardised presence.

    Sets come in complementary pairs here; all 2^n sets where ``samples`` pays for them. 64 sets and
    ``alpha`` = 0.01 are the paper's; its target is the log-odds. ``converged`` is noted: 1 if the
    fit came to rest.

    Formula:
        min_{b, w} Σ_S (v(S) − b − w·z_S)² / 2k + alpha ‖w‖₁
        z_S = presence with mean 0 and variance 1,  k sets
        s_i = w_i in units of presence,  each player in S with probability 1/2

    Source:
        Cohen-Wang, Shah, Georgiev, Madry, NeurIPS 2024, arXiv:2409.00729.

    Traps:
        The penalty depends on the value's unit: on probabilities alpha = 0.01 is strong, on
        log-odds weak. Scores of exactly 0 tie: they are not ordered. Without the penalty and with
        all sets this is the Banzhaf value, and shares its reliance on half-empty inputs.

    Args:
        x: The example.
        seed: Of the sets.
        samples: Model rows.
        alpha: Weight of the L1 penalty, in units of the value; 0 for none.
    """
    at_least("context_cite", "samples", samples, 2)
    at_least("context_cite", "alpha", alpha, 0)
    sets = uniform_sets(x.n, samples, seed)
    values = yield from keep(sets)
    scores, converged = lasso(sets, values, alpha)
    yield from note({"converged": float(converged)})
    return scores
