"""Determinism: the same seed gives the same bits, and only a declared seed matters."""

from attrial.check_bench import Bench, Outcome
from attrial.checks._alike import change, furthest

RULE = "same"
NULL = 0.0
DIRECTION = "lower"
UNIT = "share of the largest score"
VERSION = 1


def determinism(bench: Bench, *, seed: int, seeds: int = 5) -> Outcome:
    """Explain again under the same seed: not one bit may change.

    A method that declares ``STOCHASTIC = False`` must give the same bits under other seeds too.
    The value is the largest change of a score, as a share of the largest score.

    Args:
        bench: The method on trial.
        seed: Of the explanations.
        seeds: How many other seeds are tried where the method declares none to matter.
    """
    first = bench.explain(seed=seed)
    others = [bench.explain(seed=seed)]
    if not bench.declares("STOCHASTIC"):
        others += [bench.explain(seed=seed + 1 + i) for i in range(seeds)]
    return Outcome([furthest(change, first, others)])
