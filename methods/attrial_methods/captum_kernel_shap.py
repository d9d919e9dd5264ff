"""Captum's KernelShap with the library's defaults: 25 rows, whatever the number of players."""

from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import Scores, prefixes
from attrial_methods._captum import of_sets
from attrial_methods._options import at_least

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def captum_kernel_shap(x: Example, *, seed: int, samples: int = 25) -> Asking[Scores]:
    """Captum's KernelShap: a regression on sets drawn one by one by the Shapley kernel.

    As the library ships it, so that a board shows what its defaults cost: with fewer rows than
    players the regression has no one answer, and LAPACK's shortest is taken. ``kernel_shap`` pairs
    sets and pays for more.

    Formula:
        as kernel_shap, on ``samples`` sets drawn one by one

    Source:
        The captum package's KernelShap; Lundberg & Lee, NeurIPS 2017, arXiv:1705.07874.

    Traps:
        25 rows are a straw man: with fewer rows than players the regression has no one answer.
        Comparing a method with this default says little of Shapley values.

    Args:
        x: The example.
        seed: Of the draws.
        samples: Model rows, the full and the empty set included; 25 is the library's default
            (``n_samples``).
    """
    at_least("captum_kernel_shap", "samples", samples, 3)
    if x.n == 1:  # the library divides by the number of sizes between none and all
        values = yield from keep(prefixes([0]))
        return values[1:] - values[:1]
    return (
        yield from of_sets(
            x,
            lambda attr, value, ones: attr.KernelShap(value).attribute(
                ones, n_samples=samples, perturbations_per_eval=samples
            ),
            seed=seed,
        )
    )
