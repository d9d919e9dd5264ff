"""The shap package's Permutation explainer (Lundberg & Lee 2017), asking like everyone else."""

import numpy as np

from attrial.ask import Asking
from attrial.errors import Undefined
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._options import at_least
from attrial_methods._shap import PlayerMasker, explained

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def shap_permutation(x: Example, *, seed: int, samples: int = 500) -> Asking[Scores]:
    """The shap package's Permutation explainer: the mean over orders, walked there and back.

    An order takes 2n + 1 rows, so the scores are exact where no more than two players interact.
    They sum to v(all) - v(none).

    Formula:
        s_i = mean over drawn orders and their reverses of [v(before i, and i) − v(before i)]

    Source:
        The shap package's PermutationExplainer; Lundberg & Lee, NeurIPS 2017, arXiv:1705.07874.

    Traps:
        500 rows are few orders on a long text: with 100 players two of them. Near ties are noise
        then, though the sum is right.

    Args:
        x: The example.
        seed: Of the orders.
        samples: Model rows at most, whole orders alone (the library's ``max_evals`` and default).

    Raises:
        Undefined: Where ``samples`` does not pay for one order.
    """
    at_least("shap_permutation", "samples", samples, 1)
    if samples < 2 * x.n + 1:
        raise Undefined(f"{samples} rows are less than one order of {x.n} players takes")
    return (
        yield from explained(
            x,
            lambda shap, value: (
                shap.PermutationExplainer(value, PlayerMasker(x.n), seed=seed % 2**32)(
                    np.ones((1, x.n)), max_evals=samples, silent=True
                ).values
            ),
            seed=seed,
        )
    )
