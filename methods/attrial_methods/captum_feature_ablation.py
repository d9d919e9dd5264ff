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
    """Captum's FeatureAblation: v(all) - v(all but the player), which is ``occlusion``."""
    return (
        yield from of_sets(
            x,
            lambda attr, value, ones: attr.FeatureAblation(value).attribute(
                ones, perturbations_per_eval=x.n
            ),
            seed=seed,
        )
    )
