"""Captum's Lime with the library's defaults: 25 rows, a lasso, a kernel of width 1."""

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._captum import of_sets
from attrial_methods._options import at_least

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def captum_lime(x: Example, *, seed: int, samples: int = 25) -> Asking[Scores]:
    """Captum's Lime: a lasso (penalty 0.01) on sets drawn with keep probability 1/2.

    As the library ships it, so that a board shows what its defaults cost: a set at cosine distance
    d to the full one weighs exp(-d^2 / 2), and many scores are 0. ``lime`` is LIME as published.

    Formula:
        min_{b, s} Σ_S exp(−d² / 2) (v(S) − b − Σ_{i in S} s_i)² + penalty ‖s‖₁
        d = 1 − sqrt(|S|/n), the cosine distance to all

    Source:
        The captum package's Lime; Ribeiro, Singh, Guestrin, KDD 2016, arXiv:1602.04938.

    Traps:
        With a width of 1 the kernel is nearly flat (d is at most 1), and 25 rows under a lasso set
        most scores of a longer text to 0: ties, not an order.

    Args:
        x: The example.
        seed: Of the draws.
        samples: Model rows; 25 is the library's default (``n_samples``; its manual says 50).
    """
    at_least("captum_lime", "samples", samples, 2)
    return (
        yield from of_sets(
            x,
            lambda attr, value, ones: attr.Lime(value).attribute(
                ones, n_samples=samples, perturbations_per_eval=samples
            ),
            seed=seed,
        )
    )
