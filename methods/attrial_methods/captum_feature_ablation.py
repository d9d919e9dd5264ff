"""Captum's FeatureAblation, asking like everyone else."""

from attrial.ask import Asking
from attrial.example import Example
from attrial.masks import Scores
from attrial_methods._captum import of_sets

SIGN = "signed"
CLASS_SPECIFIC = True
ADDITIVE = False
STOCHASTIC = False
ASKS = ("keep",)
VERSION = 1


def captum_feature_ablation(x: Example, *, seed: int) -> Asking[Scores]:
    """Captum's FeatureAblation: v(all) - v(all but the player), which is ``occlusion``.

    Formula:
        s_i = v(all) − v(all but i)

    Source:
        The captum package's FeatureAblation; the method is occlusion (Zeiler & Fergus, ECCV 2014,
        arXiv:1311.2901).

    Traps:
        Those of ``occlusion``: no ground truth where evidence occurs twice or works together. In
        captum itself the baseline is token 0 unless one is given, padding is ablated like words,
        and each row is a forward of its own.

    Args:
        x: The example.
        seed: Unused: the method is deterministic.
    """
    return (
        yield from of_sets(
            x,
            lambda attr, value, ones: attr.FeatureAblation(value).attribute(
                ones, perturbations_per_eval=x.n
            ),
            seed=seed,
        )
    )
