"""The shap package's Kernel explainer (Lundberg & Lee 2017), asking like everyone else."""

import numpy as np

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._options import at_least
from attrial_methods._shap import explained

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def shap_kernel(
    x: Example, *, seed: int, samples: int | None = None, l1_reg: str | float = "num_features(10)"
) -> Asking[Scores]:
    """The shap package's Kernel explainer: a regression, all but ten players at 0.

    The scores sum to v(all) - v(none).

    Formula:
        as kernel_shap, all but ten scores set to 0 by feature selection (l1_reg)

    Source:
        The shap package's KernelExplainer; Lundberg & Lee, NeurIPS 2017, arXiv:1705.07874.

    Traps:
        The default keeps ten players: on longer texts the rest tie at 0 and the ten carry their
        sum. The package draws from NumPy's global state; here it gets a state of its own.

    Args:
        x: The example.
        seed: Of the draws.
        samples: Model rows at most, the full and the empty set included; the library's default, 2n
            + 2050, if none are given.
        l1_reg: Which players get a score other than 0: ``num_features(10)`` (the library's
            default), ``aic``, ``bic``, a lasso penalty, or 0 for all of them.
    """
    if samples is not None:
        at_least("shap_kernel", "samples", samples, 4)
    sets = "auto" if samples is None else samples - 2
    return (
        yield from explained(
            x,
            lambda shap, value: shap.KernelExplainer(value, np.zeros((1, x.n))).shap_values(
                np.ones((1, x.n)), nsamples=sets, l1_reg=l1_reg, silent=True
            ),
            seed=seed,
        )
    )
