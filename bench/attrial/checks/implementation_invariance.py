"""Implementation invariance: two models that are one function get one explanation."""

from attrial.check_bench import Bench, Outcome
from attrial.checks._alike import change, furthest

RULE = "same"
NULL = 1e-4
DIRECTION = "lower"
UNIT = "share of the largest score"
VERSION = 1


def implementation_invariance(bench: Bench, *, seed: int, draws: int = 2) -> Outcome:
    """Explain models whose hidden units stand in another order (Sundararajan et al. 2017).

    They are the same function, as their outputs show before anything is explained. The value is the
    largest change of a score, as a share of the largest; up to ``NULL`` it is rounding.

    Args:
        bench: The method, the model and the examples.
        seed: Of the method, and of the orders.
        draws: Models with another order of hidden units.
    """
    same = [bench.explain(bench.altered.permuted(seed=seed + i), seed=seed) for i in range(draws)]
    return Outcome([furthest(change, bench.explain(seed=seed), same)])
