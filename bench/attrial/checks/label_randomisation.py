"""Label randomisation: a model that learnt nothing about the labels must be explained otherwise."""

from attrial.check_bench import Bench, Outcome
from attrial.checks._alike import each, similarity

RULE = "no more"
NULL = None
DIRECTION = "lower"
UNIT = "rank correlation"
VERSION = 1


def label_randomisation(bench: Bench, *, seed: int, draws: int = 8) -> Outcome:
    """Compare with the explanations of a model trained on shuffled labels (Adebayo et al. 2018).

    The similarity is the greater of Spearman's correlations of s and of |s|; its null level is the
    similarity between that model and ones with all parameters at random.

    Args:
        bench: The method on trial.
        seed: Of the explanations and of the random models.
        draws: Models with random parameters.
    """
    mislabelled = bench.explain(bench.altered.mislabelled(), seed=seed)
    found = each(similarity, bench.explain(seed=seed), mislabelled)
    strata = bench.altered.strata
    random = [bench.altered.randomised(strata, seed=seed + i) for i in range(draws)]
    null = [each(similarity, mislabelled, bench.explain(m, seed=seed)) for m in random]
    return Outcome([found] * draws, null)
