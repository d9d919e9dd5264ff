"""The shap package's Partition explainer (Owen values), asking like everyone else."""

import numpy as np

from attrial.ask import Asking, keep
from attrial.example import Example
from attrial.masks import Scores, prefixes
from attrial_methods._options import at_least
from attrial_methods._shap import PlayerMasker, balanced_tree, explained

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = True
STOCHASTIC = True
ASKS = ("keep",)
BUDGET = "samples"
VERSION = 1


def shap_partition(x: Example, *, seed: int, samples: int = 500) -> Asking[Scores]:
    """The shap package's Partition explainer: Owen values over neighbours, halved again and again.

    The tree is the project's: players in reading order, cut into halves (the left one larger) down
    to single players; shap's own text masker cuts at punctuation instead. Where ``samples`` ends
    the descent early, players below share what their group has alike. The scores sum to v(all) -
    v(none).

    Formula:
        Owen values of a binary tree over neighbours: a group's value is split between its halves,
        each half taken with the other present and with it absent

    Source:
        The shap package's PartitionExplainer; Owen, in Mathematical Economics and Game Theory,
        1977.

    Traps:
        Not Shapley values: the tree decides. Where the budget ends the descent, neighbours tie. The
        package's own text masker merges gaps where the tokenizer has no mask token, which changes
        the length of the input.

    Args:
        x: The example.
        seed: Breaks ties in the order of descent.
        samples: Model rows at most (the library's ``max_evals`` and default).
    """
    at_least("shap_partition", "samples", samples, 4)
    if x.n == 1:  # no tree
        values = yield from keep(prefixes([0]))
        return values[1:] - values[:1]
    masker = PlayerMasker(x.n, balanced_tree(x.n))
    return (
        yield from explained(
            x,
            lambda shap, value: (
                shap.PartitionExplainer(value, masker)(
                    np.ones((1, x.n)), max_evals=samples // 2 * 2, silent=True
                ).values
            ),
            seed=seed,
        )
    )
