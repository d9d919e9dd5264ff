"""Seed stability: how far the explanations of a stochastic method agree under other seeds."""

from functools import partial

from attrial.check_bench import Bench, NotApplicable, Outcome, means
from attrial.checks._alike import between, jaccard, spearman
from attrial.errors import AttrialError

RULE = "more"
NULL = 0.0
DIRECTION = "higher"
UNIT = "rank correlation"
VERSION = 1


def seed_stability(bench: Bench, *, seed: int, seeds: int = 5, top: int = 3) -> Outcome:
    """Mean Spearman correlation over all pairs of seeds; the overlap of the top is reported.

    Unrelated scores correlate by 0 on average. Asked of methods that declare
    ``STOCHASTIC = True``; ``determinism`` looks at the others.

    Args:
        bench: The method on trial.
        seed: The first of the seeds.
        seeds: How many.
        top: Players whose overlap (Jaccard) is reported.
    """
    if not bench.declares("STOCHASTIC"):
        raise NotApplicable("it declares that no seed matters")
    if seeds < 2:
        raise AttrialError(f"seed_stability: seeds={seeds}; it takes 2 or more")
    runs = [bench.explain(seed=seed + i) for i in range(seeds)]
    overlap = between(partial(jaccard, k=top), runs)
    return Outcome([between(spearman, runs)], detail=means({f"top-{top} Jaccard": overlap}))
